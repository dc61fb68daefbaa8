"""How a process that is not our child ended: its exit code or signal, as far as the kernel still says.

Rules of this file
  1. While it is a zombie its stat line shows the status; once reaped, PIDFD_GET_INFO does. Both are asked.
  2. A stat line is believed only when its start is the process's own and the process was still
     unreaped after the read: else the number may already belong to another.
  3. What nobody says is not made up: an empty Exit.

Not here: whether it ended (pidfd.py).
"""

import fcntl
import os
import struct

from headcount.core.verdict import Exit
from headcount.system.processes import pidfd as pidfds
from headcount.system.processes import procfs

PIDFD_GET_INFO = 0xC040FF0B  # _IOWR(0xFF, 11, 64 bytes), linux/pidfd.h
PIDFD_INFO_EXIT = 0x8
INFO = struct.Struct("=QQ12i")  # mask, cgroup, eleven ids, exit status


def read_exit(pidfd: int, pid: int, started: int | None, exit_info: bool) -> Exit:
    """Of an ended process, pinned by its pidfd."""
    status = reaped_status(pidfd) if exit_info else None
    if status is None:
        status = _zombie_status(pidfd, pid, started)
    if status is None and exit_info:
        status = reaped_status(pidfd)  # it was reaped between the two questions
    return exit_of(status)


def exit_of(status: int | None) -> Exit:
    """From a status as wait(2) gives it."""
    if status is None:
        return Exit()
    if os.WIFSIGNALED(status):
        return Exit(signal=os.WTERMSIG(status))
    return Exit(code=os.WEXITSTATUS(status))


def reaped_status(pidfd: int) -> int | None:
    answer = bytearray(INFO.pack(PIDFD_INFO_EXIT, *([0] * 13)))
    try:
        fcntl.ioctl(pidfd, PIDFD_GET_INFO, answer)
    except OSError:
        return None
    fields = INFO.unpack(answer)
    return int(fields[-1]) if fields[0] & PIDFD_INFO_EXIT else None


def _zombie_status(pidfd: int, pid: int, started: int | None) -> int | None:
    try:
        with procfs.open_directory(pid) as directory:
            permitted = procfs.may_read_exit(directory)
            stat = procfs.read_stat(directory)
    except OSError:
        return None
    if stat is None or not permitted or not stat.has_ended or started not in (None, stat.started):
        return None
    return None if pidfds.is_reaped(pidfd) else stat.exit_status
