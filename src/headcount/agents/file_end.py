"""The end of a file that an agent writes: a bounded read, whatever the file's size is.

Rules of this file
  1. At most so many bytes are read, in one read: a file of gigabytes costs what a small one does (accident H5).
  2. A first line that is cut is left out. None: there is nothing to read, which says nothing.

Not here: which files may be opened (own_file.py), what the lines mean (each agent's own modules).
"""

import os
from pathlib import Path

from msgspec import Struct

from headcount.agents.own_file import read_own


class End(Struct, frozen=True):
    content: bytes  # whole lines, and perhaps one that is still being written
    start: int  # where in the file they begin


def read_end(path: Path, most: int) -> End | None:
    def last(fd: int, seen: os.stat_result) -> End:
        start = max(0, seen.st_size - most)
        content = os.pread(fd, most, start)
        if start == 0:
            return End(content, 0)
        cut, newline, rest = content.partition(b"\n")
        return End(rest, start + len(cut) + len(newline))

    return read_own(path, last)
