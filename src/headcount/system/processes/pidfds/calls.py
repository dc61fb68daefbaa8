"""System calls on pidfds: a descriptor that stays one process for as long as it is open (pidfd_open(2)).

They open a pidfd, tell whether its process ended, ask the kernel about it (ioctl PIDFD_GET_INFO, Linux 6.13
and later) and read how a process that is not our child ended.

Rules
  1. A process has ended, as a zombie or gone, exactly when its pidfd is readable.
  2. While the pidfd is not readable the pid is that process's own: what was read by pid in between belongs to
     it.
  3. "No process has that pid" is told apart from "the kernel did not answer".
  4. PIDFD_GET_INFO gives pid and parent while the process has them, the exit status once it was reaped. A
     kernel that does not know the call is told apart from one that says "reaped".
  5. A zombie's stat line shows the exit status; after reaping its pidfd does. Both are asked.
  6. A stat line is believed only if its start is the process's own and the process was still unreaped after
     the read. Otherwise the pid may already belong to another process.
  7. An unknown exit status is an empty Exit, never a guess.

Not here: finding a remembered process again (handle.py), which of these calls the kernel has
(kernel_features.py).
"""

import errno
import fcntl
import os
import select
import struct

from msgspec import Struct

from headcount.core.values.verdict import Exit
from headcount.system.processes import descriptor_limits, procfs
from headcount.system.processes.procfs import ProcessGone, Unreadable

NO_SUCH_PROCESS = frozenset({errno.ESRCH, errno.EINVAL, errno.ENOENT})
"""ESRCH: the number is unused. EINVAL, since 6.15 ENOENT: only a thread, a group or a session still has the number, so
the process whose pid it was is gone."""

REAPED = -1


def open_pidfd(pid: int) -> int | ProcessGone | Unreadable:
    if pid <= 0:
        return ProcessGone()
    try:
        return os.pidfd_open(pid)
    except OverflowError:
        return ProcessGone()  # no number that large is a pid
    except OSError as error:
        if error.errno in NO_SUCH_PROCESS:
            return ProcessGone()
        descriptor_limits.note(error)
        return ProcessGone() if is_vacant(pid) else Unreadable(error.strerror or str(error))


def is_vacant(pid: int) -> bool:
    """No process, zombie or thread has that number. Asked without a descriptor and without a signal:
    getpgid(2) fails with ESRCH exactly then."""
    try:
        os.getpgid(pid)
    except (ProcessLookupError, OverflowError):  # no number that large is a pid
        return True
    except OSError:
        return False
    return False


def inode_of(pidfd: int) -> int:
    return os.fstat(pidfd).st_ino


def find_inode(pid: int) -> int | None:
    """The pidfd inode of the live process with that pid; None: there is none, or no such inodes here. A tenth of the
    cost of `look`: enough to see that the pid still belongs to the same process."""
    if not hasattr(os, "pidfd_open"):
        return None
    pinned = open_pidfd(pid)
    if not isinstance(pinned, int):
        return None
    try:
        return None if has_ended(pinned) else inode_of(pinned)
    finally:
        os.close(pinned)


def has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def is_reaped(pidfd: int) -> bool:
    """Whether even its zombie is gone. If unknown, True: what was read by pid is then not used."""
    return pid_of(pidfd) in (None, REAPED)


def pid_of(pidfd: int) -> int | None:
    """The pid that the kernel shows for the descriptor, REAPED once it has none; None: no answer."""
    answer = ask(pidfd)
    if answer is None:
        return shown_pid(pidfd)
    return REAPED if answer.pid is None else answer.pid


def shown_pid(pidfd: int) -> int | None:
    """The same on every kernel with pidfds, at ten times the cost."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}", "rb", buffering=0) as file:
            _, found, rest = file.read().partition(b"\nPid:")
        return int(rest.split(maxsplit=1)[0]) if found else None
    except OSError as error:
        descriptor_limits.note(error)
        return None
    except (ValueError, IndexError):
        return None


PIDFD_GET_INFO = 0xC040FF0B  # _IOWR(0xFF, 11, 64 bytes), linux/pidfd.h
ASK_PID = 0x1
ASK_EXIT = 0x8  # answered since 6.15
# mask, (cgroup,) pid, (thread group,) parent, (eight more ids,) exit status
ANSWER = struct.Struct("=Q8xi4xi32xi")
QUESTION = ANSWER.pack(ASK_PID | ASK_EXIT, 0, 0, 0)


class PidfdInfo(Struct, frozen=True):
    pid: int | None = None  # None: it was reaped
    parent: int | None = None  # of one that has a pid
    exit_status: int | None = None  # as wait(2) gives it; None: not reaped yet, or not told


def ask(pidfd: int) -> PidfdInfo | None:
    """None: this kernel does not answer."""
    try:
        answer = fcntl.ioctl(pidfd, PIDFD_GET_INFO, QUESTION)
    except OSError as error:
        return PidfdInfo() if error.errno == errno.ESRCH else None
    mask, pid, parent, status = ANSWER.unpack(answer)
    has_pid = mask & ASK_PID and not mask & ASK_EXIT
    return PidfdInfo(
        pid=pid if has_pid else None,
        parent=parent if has_pid else None,
        exit_status=status if mask & ASK_EXIT else None,
    )


def read_exit(pidfd: int, pid: int, started: int | None, exit_info: bool) -> Exit:
    """How a process ended that is pinned by its pidfd."""
    status = _reaped_status(pidfd) if exit_info else None
    if status is None:
        status = _zombie_status(pidfd, pid, started)
    if status is None and exit_info:
        status = _reaped_status(pidfd)  # it was reaped between the two questions
    return _exit_of(status)


def _exit_of(status: int | None) -> Exit:
    """From a status as wait(2) gives it."""
    if status is None:
        return Exit()
    if os.WIFSIGNALED(status):
        return Exit(signal=os.WTERMSIG(status))
    return Exit(code=os.WEXITSTATUS(status))


def _reaped_status(pidfd: int) -> int | None:
    answer = ask(pidfd)
    return None if answer is None else answer.exit_status


def _zombie_status(pidfd: int, pid: int, started: int | None) -> int | None:
    try:
        with procfs.open_directory(pid) as directory:
            permitted = procfs.may_read_exit(directory)
            stat = procfs.read_stat(directory)
    except OSError:
        return None
    if stat is None or not permitted or not stat.has_ended or started not in (None, stat.started):
        return None
    return None if is_reaped(pidfd) else stat.exit_status
