"""The singleton: one daemon a home, by a lock that the kernel gives back at death.

Rules of this file
  1. The lock is held for life. It is close-on-exec, so that no child keeps it (accident H1).
  2. Nothing is read from the file and nobody's pid is asked: the lock itself is the answer.
"""

import fcntl
import os
from pathlib import Path


class Singleton:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def take(cls, path: Path) -> "Singleton | None":
        """None: another daemon has it."""
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        return cls(fd)

    def release(self) -> None:
        os.close(self._fd)
