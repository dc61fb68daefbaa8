"""Choose the process adapter for this system.

Rules
  1. The Linux adapter needs pidfds (Linux 5.3). Without them, and outside Linux, it is the portable one.
     Settings and tests may ask for the portable one, and switch off single kernel features.
  2. psutil is imported only when it is used: it slows the daemon's start.

Not here: the adapters, where the settings come from (daemon/config.py).
"""

import asyncio
import sys

from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features, probe


def open_processes(loop: asyncio.AbstractEventLoop, adapter: str = "", without: str = "") -> Processes:
    """`adapter` is "linux", "portable" or empty (what fits); `without` lists features not to use."""
    if adapter not in ("", "linux", "portable"):
        raise ValueError(f"no such process adapter: {adapter} (there are: linux, portable)")
    allowed = Features.from_text(without)
    if adapter != "portable" and sys.platform == "linux" and (allowed & probe()).pidfd:
        return LinuxProcesses(loop, allowed)
    from headcount.system.processes.portable import PortableProcesses

    return PortableProcesses(loop)
