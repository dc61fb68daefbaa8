"""Which adapter for processes this system gets.

Rules of this file
  1. Linux's own where there is Linux, psutil elsewhere. A person or a test may ask for the portable one.
  2. psutil is imported only when it is used: it costs the start of a daemon that does not.

Not here: the adapters, where the wish comes from (daemon/config.py).
"""

import asyncio
import sys

from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features


def open_processes(loop: asyncio.AbstractEventLoop, adapter: str = "", without: str = "") -> Processes:
    """`adapter` is "linux", "portable" or empty (what fits); `without` lists features not to use."""
    if adapter not in ("", "linux", "portable"):
        raise ValueError(f"no such process adapter: {adapter} (there are: linux, portable)")
    if adapter == "portable" or (not adapter and sys.platform != "linux"):
        from headcount.system.processes.portable import PortableProcesses

        return PortableProcesses(loop)
    return LinuxProcesses(loop, Features.from_text(without))
