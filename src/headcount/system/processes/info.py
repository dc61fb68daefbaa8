"""What a pidfd says of its process when asked by ioctl: PIDFD_GET_INFO, Linux 6.13 and later.

Rules of this file
  1. One question, one answer: its pid and its parent's while it has one, the exit status once it was reaped.
  2. A kernel that does not know the question is told apart from one that says "reaped".

Not here: older kernels' ways to the same facts (system/processes/pidfds/calls.py, exits.py).
"""

import errno
import fcntl
import struct

from msgspec import Struct

PIDFD_GET_INFO = 0xC040FF0B  # _IOWR(0xFF, 11, 64 bytes), linux/pidfd.h
ASK_PID = 0x1
ASK_EXIT = 0x8  # answered since 6.15
# mask, (cgroup,) pid, (thread group,) parent, (eight more ids,) exit status
ANSWER = struct.Struct("=Q8xi4xi32xi")
QUESTION = ANSWER.pack(ASK_PID | ASK_EXIT, 0, 0, 0)


class Info(Struct, frozen=True):
    pid: int | None = None  # None: it was reaped
    parent: int | None = None  # of one that has a pid
    exit_status: int | None = None  # as wait(2) gives it; None: not reaped yet, or not told


def ask(pidfd: int) -> Info | None:
    """None: this kernel does not answer."""
    try:
        answer = fcntl.ioctl(pidfd, PIDFD_GET_INFO, QUESTION)
    except OSError as error:
        return Info() if error.errno == errno.ESRCH else None
    mask, pid, parent, status = ANSWER.unpack(answer)
    has_pid = mask & ASK_PID and not mask & ASK_EXIT
    return Info(
        pid=pid if has_pid else None,
        parent=parent if has_pid else None,
        exit_status=status if mask & ASK_EXIT else None,
    )
