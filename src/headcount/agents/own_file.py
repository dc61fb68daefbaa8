"""A file of an agent's that was named from outside: read only when it is a plain file of our own user.

Rules of this file
  1. Only a regular file of our own user is read; no link is followed, and no pipe is waited for.
  2. It may be swapped under us: every check is on what was opened, not on the name.
  3. None: there is nothing to read, which says nothing.

Not here: how much is read (file_end.py and each agent's own modules).
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def read_own(path: Path, read: Callable[[int, os.stat_result], T]) -> T | None:
    """What `read` takes from the open file, given its descriptor and its facts."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid():
            return None
        return read(fd, seen)
    except OSError:
        return None
    finally:
        os.close(fd)
