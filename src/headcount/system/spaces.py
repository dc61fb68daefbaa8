"""What a path is for the process that names it: this host's path, or a name in another mount namespace or root.

Rules of this file
  1. A process sees our files if its mount table begins as ours does. Another mount namespace has mounts of its own, and
     from another root (chroot) the same mounts are not listed. The table is readable also where `ns` and `root` are not.
  2. A process that sees other files names a path of this host only if the path leads to the same (device, inode)
     there and here. If the path does not exist yet, the nearest directory above it is compared. Links are followed
     inside the process's root; magic links are not followed.
  3. Every other path, and every doubt, gets a label: `ns-512:/workspace/x`. No path of this host looks like that. Processes
     that see the same mounts have the same label (the id of the first mount); unknown ones have one of their own.
  4. Without a mount table (macOS) there is one view for all.

Not here: limits of time, for a file system may hang (daemon/spaces.py).
"""

import ctypes
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from headcount.core.identity import ProcessIdentity
from headcount.system import libc
from headcount.system.processes import procfs

OPENAT2 = 437  # the same on every architecture that Python runs on
IN_ROOT, NO_MAGIC_LINKS = 0x10, 0x02  # openat2(2), RESOLVE_*
PLACE = os.O_PATH | os.O_CLOEXEC
FIELDS = 5  # of a mount's line: id, parent, device, root and mount point; options may change (proc_pid_mountinfo(5))
UNSEEN = "ns-?"
GONE = frozenset({errno.ENOENT, errno.ESRCH, errno.EINVAL})  # the last: it has ended and is not reaped yet


class _How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def is_ours(path: str) -> bool:
    """Whether it is a path of this host, and not a labelled one."""
    return path.startswith("/")


def label_of(process: ProcessIdentity) -> str:
    """Empty: it sees our files. Raises `ProcessLookupError` when the process is gone."""
    if not has_mounts():
        return ""
    try:
        with procfs.open_directory(process.pid) as directory:
            return _label(directory, process)
    except OSError as error:
        if error.errno in GONE:
            raise ProcessLookupError(errno.ESRCH, "the process is gone") from None
        return f"{UNSEEN}{process.pid}"


def sees_ours(process: ProcessIdentity) -> bool:
    try:
        return not label_of(process)
    except ProcessLookupError:
        return False


def ourselves() -> ProcessIdentity:
    """For paths that nobody else names."""
    return ProcessIdentity("", 0, os.getpid())


def real_path(process: ProcessIdentity | None, path: str) -> str:
    """The path with its links followed, as a path of this host; else labelled. None: it is not known who names it.
    It may hang, as file systems do."""
    label = "" if not has_mounts() else UNSEEN if process is None else f"{UNSEEN}{process.pid}"
    with suppress(OSError, ValueError):
        if process is not None:
            label = label_of(process)
        if not label or (
            process is not None
            and _leads_to(process, path) == _nearest(lambda at, more: os.open(at, PLACE | more), path)
        ):
            return os.path.realpath(path)
    return f"{label}:{path}" if label else os.path.normpath(path)


def has_mounts() -> bool:
    return bool(_our_first())


def _label(directory: int, process: ProcessIdentity) -> str:
    stat = procfs.read_stat(directory)
    if stat is None or (process.started is not None and stat.started != process.started):
        raise ProcessLookupError(errno.ESRCH, "that incarnation is gone")
    first = _first(procfs.read_line(directory, "mountinfo"))
    if not first:  # a root below which nothing is mounted
        return f"{UNSEEN}{process.pid}"
    if first != _our_first():
        _our_first.cache_clear()  # ours may have changed since
    return "" if first == _our_first() else f"ns-{first[0].decode()}"


@cache
def _our_first() -> list[bytes]:
    try:
        with procfs.open_directory(os.getpid()) as directory:
            return _first(procfs.read_line(directory, "mountinfo"))
    except OSError:
        return []


def _first(table: bytes) -> list[bytes]:
    return table.partition(b"\n")[0].split()[:FIELDS]


def _leads_to(process: ProcessIdentity, path: str) -> tuple[int, int, str]:
    with procfs.open_directory(process.pid) as directory:
        _label(directory, process)  # still that incarnation
        root = os.open("root", PLACE | os.O_DIRECTORY, dir_fd=directory)
    try:
        return _nearest(lambda at, more: _open_in(root, at, more), path)
    finally:
        os.close(root)


def _nearest(open_: Callable[[str, int], int], path: str) -> tuple[int, int, str]:
    """Device and inode of what is there: the path itself, or the nearest directory above it; and how far that goes."""
    at = path
    while True:
        try:
            fd = open_(at, 0)
        except (FileNotFoundError, NotADirectoryError):
            with suppress(FileNotFoundError, NotADirectoryError):
                os.close(open_(at, os.O_NOFOLLOW))
                raise OSError(errno.ELOOP, "a link that leads nowhere") from None
            at = at.rpartition("/")[0] or "/"
            continue
        try:
            found = os.fstat(fd)
        finally:
            os.close(fd)
        return found.st_dev, found.st_ino, at


def _open_in(root: int, path: str, more: int) -> int:
    how = _How(PLACE | more, 0, IN_ROOT | NO_MAGIC_LINKS)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    return libc.call(
        "syscall", ctypes.c_long(OPENAT2), ctypes.c_int(root), os.fsencode(path), ctypes.byref(how), size
    )
