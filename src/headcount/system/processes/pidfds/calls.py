"""Pidfds: a descriptor that is one process for as long as we hold it (pidfd_open(2)).

Rules of this file
  1. A pidfd that is readable has ended: as a zombie or gone. Nothing else says so, and nothing less.
  2. While it is not readable, the pid is that process's own: what was read by pid in between is its.
  3. "No process has that pid" is told apart from "the kernel would not say".

Not here: coming back to a process after a restart (handle.py), how it ended (exits.py).
"""

import errno
import os
import select

from headcount.system.processes import info, scarcity
from headcount.system.processes.interface import Gone, Unreadable

NO_SUCH_PROCESS = frozenset({errno.ESRCH, errno.EINVAL, errno.ENOENT})
"""ESRCH: nothing has that number. EINVAL, since 6.15 ENOENT: the number is only a thread's, a group's or a
session's any more, so the process that had it as its own is gone."""

REAPED = -1


def open_pidfd(pid: int) -> int | Gone | Unreadable:
    if pid <= 0:
        return Gone()
    try:
        return os.pidfd_open(pid)
    except OverflowError:
        return Gone()  # no number that large is a pid
    except OSError as error:
        if error.errno in NO_SUCH_PROCESS:
            return Gone()
        return no_descriptor(pid, error)


def no_descriptor(pid: int, error: OSError) -> Gone | Unreadable:
    """What can be said without a descriptor: whether anything at all has that number."""
    scarcity.note(error)
    if is_vacant(pid):
        return Gone()
    return Unreadable(error.strerror or str(error))


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
    """Of whoever has that number and lives; None: nobody, or it cannot be told here. One tenth of a look: enough to
    see that the number is still the one that was looked at."""
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
    """Whether even its zombie is gone. When that cannot be told it is taken to be so: what was read by
    pid is then not believed."""
    return pid_of(pidfd) in (None, REAPED)


def pid_of(pidfd: int) -> int | None:
    """The pid as the kernel shows it for the descriptor, REAPED once it has none; None: it would not say."""
    answer = info.ask(pidfd)
    if answer is None:
        return shown_pid(pidfd)
    return REAPED if answer.pid is None else answer.pid


def shown_pid(pidfd: int) -> int | None:
    """The same as every kernel with pidfds shows it, at ten times the cost."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}", "rb", buffering=0) as file:
            _, found, rest = file.read().partition(b"\nPid:")
        return int(rest.split(maxsplit=1)[0]) if found else None
    except OSError as error:
        scarcity.note(error)
        return None
    except (ValueError, IndexError):
        return None
