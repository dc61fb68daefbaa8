"""A file of an agent's that was named from outside: read only when it is a plain file of our own user.

Rules of this file
  1. What is opened is asked, not the name: it may be swapped under us.
  2. None: there is nothing to read, which says nothing.

Not here: what a plain file of our own is (private_files.py), how much is read (file_end.py and each agent's own modules).
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from headcount.private_files import open_to_read

T = TypeVar("T")


def read_plain(path: Path, read: Callable[[int, os.stat_result], T]) -> T | None:
    """What `read` takes from the open file, given its descriptor and its facts."""
    try:
        fd, facts = open_to_read(str(path))
    except (OSError, ValueError):
        return None
    try:
        return read(fd, facts)
    except OSError:
        return None
    finally:
        os.close(fd)
