"""When a process started, counted from boot: a number that the wall clock cannot move.

Rules of this file
  1. Where the kernel counts start ticks since boot, those are taken as they are.
  2. Elsewhere it is creation minus boot, both by the wall clock, so that a clock that was set
     moves both. The difference is exact only roughly; `nearly_same_start` says how roughly.

Not here: comparing identities (core/values/process.py).
"""

import sys

import psutil

from headcount.system.processes import procfs

TICKS = 100  # per second, as Linux shows them to everybody (USER_HZ)

ROUGHLY = 2 * TICKS
"""Two starts nearer than this may be one start read twice, where it is a difference of wall times.
A pid is not given again that soon: systems hand out numbers in a circle."""


def read_start(process: psutil.Process) -> int | None:
    """May raise psutil's errors, like any question to a process."""
    if sys.platform == "linux":
        return _from_stat(process.pid)
    return round((process.create_time() - psutil.boot_time()) * TICKS)


def nearly_same_start(one: int, other: int) -> bool:
    return sys.platform != "linux" and abs(one - other) < ROUGHLY


def _from_stat(pid: int) -> int | None:
    try:
        with procfs.open_directory(pid) as directory:
            stat = procfs.read_stat(directory)
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    except PermissionError:
        raise psutil.AccessDenied(pid) from None
    return None if stat is None else stat.started
