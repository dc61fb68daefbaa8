"""A damaged file is set aside: renamed, said, never deleted, never emptied.

Rules of this file
  1. The file goes first and its log after it: cut short in between, the next start finds a log
     without a file, which is damage too, and not a file without its log, which looks whole.
  2. The names stay openable: `<name>.corrupt-<stamp>` with its `-wal` and `-shm`.
  3. Damage that is met in mid-flight leaves a mark, so that the next start checks everything. A mark with a reason in it
     says that what lies there is not what was served: the next start sets it aside unread.

Not here: how damage is found at a start (store/sqlite/opening.py).
"""

import os
import time
from contextlib import suppress
from pathlib import Path

from headcount.private_files import open_to_append, read
from headcount.store.sqlite.schema import SIDE_FILES, sync

WHY_MOST = 1_000  # bytes


def set_aside(path: Path, now: float) -> Path:
    """Moves the file and its side files; gives the new name of the file (or of its log alone)."""
    target = _free_name(path, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now)))
    moved = [
        (path.with_name(path.name + end), target.with_name(target.name + end))
        for end in ("", *SIDE_FILES)
        if path.with_name(path.name + end).exists()
    ]
    for old, new in moved:
        old.rename(new)
    sync(path.parent)
    trust(path)
    return moved[0][1] if moved else target


def is_orphaned(path: Path) -> bool:
    """A log with content whose file is gone."""
    log = path.with_name(path.name + "-wal")
    return not path.exists() and log.exists() and log.stat().st_size > 0


def suspect(path: Path, why: str = "") -> None:
    with suppress(OSError):  # the mark is an extra; the fault itself is told anyway
        mark = open_to_append(str(_mark(path)))
        os.write(mark, why.encode())
        os.close(mark)


def is_suspect(path: Path) -> bool:
    return _mark(path).exists()


def told_lost(path: Path) -> str | None:
    """Why what lies there is not what was served; None: nobody said so."""
    try:
        return read(str(_mark(path)), WHY_MOST).decode("utf-8", "replace") or None
    except OSError:
        return None


def trust(path: Path) -> None:
    _mark(path).unlink(missing_ok=True)


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".suspect")


def _free_name(path: Path, stamp: str) -> Path:
    wished = path.with_name(f"{path.name}.corrupt-{stamp}")
    count = 1
    while any(wished.with_name(wished.name + end).exists() for end in ("", *SIDE_FILES)):
        count += 1
        wished = path.with_name(f"{path.name}.corrupt-{stamp}-{count}")
    return wished
