"""The end of a file that an agent writes: a bounded read, whatever the file's size is.

Rules of this file
  1. At most so many bytes are read, in one read: a file of gigabytes costs what a small one does (accident H5).
  2. The path may have been named from outside: only a regular file of our own user is opened, and no link followed.
  3. A first line that is cut is left out. None: there is nothing to read, which says nothing.

Not here: what the lines mean (each agent's own modules).
"""

import os
import stat
from pathlib import Path

from msgspec import Struct


class End(Struct, frozen=True):
    content: bytes  # whole lines, and perhaps one that is still being written
    start: int  # where in the file they begin


def read_end(path: Path, most: int) -> End | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid():
            return None
        start = max(0, seen.st_size - most)
        content = os.pread(fd, most, start)
    except OSError:
        return None
    finally:
        os.close(fd)
    if start == 0:
        return End(content, 0)
    cut, newline, rest = content.partition(b"\n")
    return End(rest, start + len(cut) + len(newline))
