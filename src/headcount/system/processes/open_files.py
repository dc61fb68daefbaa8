"""The files that a process has open under /proc, and which of them it has locked.

Rules
  1. A lock is a line of /proc/locks with this pid and this inode. Device numbers are not compared: for some
     file systems they differ from those of stat(2).
  2. Pipes, sockets, devices and files without a name are left out.
  3. Whether it is still the same process afterwards is for the caller to verify.

Not here: a process's stat line, command line and environment (procfs.py).
"""

import os

from headcount.core.values.process import Locks, OpenFile, OpenFiles

LOCKS_MOST = 4 * 1024 * 1024
LOCKING = (b"FLOCK", b"POSIX")
NO_FILES = ("/dev/", "/proc/", "/sys/", "/memfd:")


def read_open_files(pid: int, locks: Locks) -> OpenFiles | None:
    """The open files; None: the process is not ours to read, or ended."""
    locked = None if locks is None else locks.get(pid, frozenset())
    try:
        directory = os.open(f"/proc/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = (_file(directory, name, locked) for name in os.listdir(directory))
        return tuple(sorted({each for each in found if each is not None}, key=lambda each: each.path))
    except OSError:
        return None
    finally:
        os.close(directory)


def _file(directory: int, name: str, locked: frozenset[int] | None) -> OpenFile | None:
    try:
        path = os.readlink(os.fsencode(name), dir_fd=directory).decode("utf-8", "replace")
        if not path.startswith("/") or path.startswith(NO_FILES):
            return None
        if locked is None:
            return OpenFile(path)
        return OpenFile(path, bool(locked) and os.stat(name, dir_fd=directory).st_ino in locked)
    except OSError:
        return None  # closed meanwhile


def read_locks() -> Locks:
    """The inodes that each process holds a lock on: proc_locks(5). Waiters are marked `->`.
    None: unreadable; then no process may be assumed to hold no lock."""
    try:
        with open("/proc/locks", "rb") as locks:
            content = locks.read(LOCKS_MOST)
    except OSError:
        return None
    if len(content) == LOCKS_MOST:
        return None  # cut off: a lock that is missing here may still be held
    held: dict[int, set[int]] = {}
    for row in (line.split() for line in content.splitlines()):
        if len(row) > 5 and row[1] in LOCKING and row[4].isdigit():
            inode = row[5].rpartition(b":")[2]
            if inode.isdigit():
                held.setdefault(int(row[4]), set()).add(int(inode))
    return {pid: frozenset(inodes) for pid, inodes in held.items()}
