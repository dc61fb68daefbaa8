"""What a path means for the process that names it: a path of this host, or one in another mount namespace or
root.

Rules
  1. A process sees our files if its mount table begins as ours does: another mount namespace has other mount
     ids, and from another root (chroot) the same mounts are not listed. The table is readable also where `ns`
     and `root` are not.
  2. A process that sees other files names a path of this host only if it leads to the same (device, inode)
     there and here; for a path that does not exist yet, the nearest directory above counts. Links are
     followed inside its root, magic links not at all.
  3. Any other path, and any doubt, gets a label that no path of this host begins with: `ns-512:/workspace/x`.
     Processes that see the same mounts share a label (the id of the first mount). Without a mount table
     (macOS) all processes see the same.

Not here: deadlines, since a file system may hang (daemon/identity/host_paths.py).
"""

import errno
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_int, c_long, c_size_t
from functools import cache

from headcount.core.values.process import ProcessIdentity
from headcount.system import libc
from headcount.system.processes import procfs

OPENAT2 = 437  # the same on every architecture that Python runs on
IN_ROOT, NO_MAGIC_LINKS = 0x10, 0x02  # openat2(2), RESOLVE_*
PLACE = os.O_PATH | os.O_CLOEXEC
LINE, FIELDS = (
    512,
    5,
)  # bytes; id, parent, device, root and mount point: proc_pid_mountinfo(5). Options may change
UNSEEN = "ns-?"
GONE = frozenset({errno.ENOENT, errno.ESRCH, errno.EINVAL})  # the last: it has ended and is not reaped yet


def is_ours(path: str) -> bool:
    return path.startswith("/")


def ourselves() -> ProcessIdentity:
    """Our own view, for paths sent by the page."""
    return ProcessIdentity("", 0, os.getpid())


def label_of(process: ProcessIdentity) -> str:
    """The process's label; empty: it sees our files. Raises `ProcessLookupError` if it ended, `OSError` if unreadable."""
    if not has_mounts():
        return ""
    try:
        with procfs.open_directory(process.pid) as directory:
            return _label(directory, process)
    except OSError as error:
        if error.errno in GONE:
            raise ProcessLookupError(errno.ESRCH, "the process is gone") from None
        raise


def sees_ours(process: ProcessIdentity) -> bool:
    """Whether the process certainly sees our files."""
    with suppress(OSError):
        return not label_of(process)
    return False


def real_path(process: ProcessIdentity | None, path: str) -> str:
    """The path with its links followed; labelled if it is not this host's. None: the naming process is unknown. May hang."""
    label = "" if not has_mounts() else UNSEEN if process is None else f"{UNSEEN}{process.pid}"
    with suppress(OSError, ValueError):
        if process is not None and label:
            with procfs.open_directory(process.pid) as directory:
                label = _label(directory, process)
                root = os.open("root", PLACE, dir_fd=directory) if label else -1
            if label:
                try:
                    inside = _nearest(lambda at, more: _open_in(root, at, more), path)
                finally:
                    os.close(root)
                if inside == _nearest(lambda at, more: os.open(at, PLACE | more), path):
                    label = ""
        if not label:
            return os.path.realpath(path)
    return f"{label}:{path}" if label else os.path.normpath(path)


def has_mounts() -> bool:
    try:
        return bool(_our_first())
    except OSError:  # the mounts could not be read; an unknown path is labelled
        return True


def _label(directory: int, process: ProcessIdentity) -> str:
    stat = procfs.read_stat(directory)
    if stat is None or process.started not in (None, stat.started):
        raise ProcessLookupError(errno.ESRCH, "that incarnation is gone")
    first = _first(directory)
    if first != _our_first():
        _our_first.cache_clear()  # ours may have changed since
    if first == _our_first():
        return ""
    return (
        f"ns-{first[0].decode()}" if first else f"{UNSEEN}{process.pid}"
    )  # none: nothing is mounted below its root


@cache
def _our_first() -> list[bytes]:
    try:
        with procfs.open_directory(os.getpid()) as directory:
            return _first(directory)
    except FileNotFoundError:  # a system without /proc
        return []


def _first(directory: int) -> list[bytes]:
    return procfs.read_line(directory, "mountinfo", LINE).partition(b"\n")[0].split()[:FIELDS]


def _nearest(open_: Callable[[str, int], int], path: str) -> tuple[int, int, str]:
    """Device and inode of the path, or of its nearest existing parent; and which of the two it is."""
    at = path
    while True:
        try:
            fd = open_(at, 0)
        except (FileNotFoundError, NotADirectoryError):
            if at == "/":
                raise
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
    how = struct.pack("QQQ", PLACE | more, 0, IN_ROOT | NO_MAGIC_LINKS)
    return libc.call("syscall", c_long(OPENAT2), c_int(root), os.fsencode(path), how, c_size_t(len(how)))
