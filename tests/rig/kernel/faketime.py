"""A wall clock that jumps, for one daemon alone: libfaketime in its environment, its offset in a file.

Rules of this file
  1. Only the wall clock is false. The steady clocks go on, as they do when somebody sets the clock.
  2. File times are the kernel's: a test that writes a file for such a daemon dates it by `now`.
"""

import os
import time
from pathlib import Path


def library() -> str | None:
    """None: it is not installed (Debian: `apt install faketime`)."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(found[0]) if found else None


class WallClock:
    def __init__(self, file: Path) -> None:
        preload = library()
        assert preload is not None, "libfaketime is missing: `apt install faketime`"
        self._file = file
        self.offset = 0
        self.set(0)
        self.env = {
            "LD_PRELOAD": preload,
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def set(self, offset: int) -> None:
        self.offset = offset
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{offset:+d}\n")
        os.replace(fresh, self._file)

    def now(self) -> float:
        return time.time() + self.offset
