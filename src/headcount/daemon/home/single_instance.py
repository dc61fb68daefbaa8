"""The singleton: one daemon a home, by locks that the kernel gives back at death.

Rules
  1. The locks are held for life. They are close-on-exec, so that no child keeps them (accident H1).
  2. Nothing is read from the file and nobody's pid is asked: the lock itself is the answer.
  3. A file may be removed under its lock, and a second daemon would then lock a new one. So the directory of the
     store is locked too: it cannot be removed while the store is in it.
  4. What was locked must be what the path leads to; a file that was removed in between is no lock.
  5. Who has it is told to people by the kernel's own list, and decides nothing.

Not here: what a daemon that lost says (daemon/main.py).
"""

import contextlib
import fcntl
import os
from pathlib import Path

LOCKS = "/proc/locks"


class SingleInstance:
    def __init__(self, *descriptors: int) -> None:
        self._descriptors = descriptors

    @classmethod
    def take(cls, path: Path) -> "SingleInstance | None":
        """None: another daemon has it."""
        file = _lock_file(path)
        if file is None:
            return None
        try:
            directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            os.close(file)
            raise
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            os.close(directory)
            return None
        except OSError:  # network file systems cannot lock a directory: there the file alone has to do
            os.close(directory)
            return cls(file)
        return cls(file, directory)

    def release(self) -> None:
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def holder_of(path: Path) -> int | None:
    """The pid that has the lock, on the file or on its directory, for people; None: it cannot be told (locks(5),
    proc_locks(5))."""
    try:
        locked = [path.parent.stat(), *([path.lstat()] if path.exists() else [])]
        lines = Path(LOCKS).read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    places = {f"{os.major(it.st_dev):02x}:{os.minor(it.st_dev):02x}:{it.st_ino}" for it in locked}
    for line in lines:
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] in places and fields[4].isdigit():
            return int(fields[4]) or None  # 0: of another pid namespace
    return None


def _lock_file(path: Path) -> int | None:
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        if _is_at(fd, path):
            return fd
        os.close(fd)


def _is_at(fd: int, path: Path) -> bool:
    try:
        there, ours = path.stat(follow_symlinks=False), os.fstat(fd)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
