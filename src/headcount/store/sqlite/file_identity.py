"""Whether the store's paths still lead to the files that are open.

SQLite goes on with files that were removed, moved or replaced, and commits into them with success. A start
would then find another file, an older one or none, and grant again what is held.

Rules
  1. Checked before and after each commit: what was committed elsewhere is not acknowledged.
  2. A log that became shorter or lost its header, or an empty store, was cut by another program: SQLite only
     shortens a log to the limit that it was given, and writes its header before anything else.
  3. A mark makes the next start set the file aside: an older copy cannot be told from a sound store
     otherwise. If the state directory is gone, nothing is made.

Not here: ending the daemon because of it (daemon/home/home_watch.py), setting aside (damage.py).
"""

import os
from pathlib import Path
from typing import Final

from headcount.store.interface import StoreFault
from headcount.store.sqlite.damage import suspect
from headcount.store.sqlite.schema import JOURNAL_BYTES

STORE_LEAST: Final = 512  # bytes; the smallest page
HOLE: Final = bytes(4)  # where the log was emptied and then written on

Identity = tuple[int, int] | None


class StoreFiles:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._store, self._log = str(path), f"{path}-wal"
        self._open = (_seen(self._store)[0], _seen(self._log)[0])
        self._log_least = 0
        # SQLite locks nothing in its log, so that closing this drops no lock of SQLite's.
        self._head = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)

    def look(self) -> None:
        """Raises `StoreFault` of kind `gone` where the files that are open are not those of their paths."""
        least = self._log_least  # read first: another thread may commit and look while we do
        try:
            store, size = _seen(self._store)
            log, length = _seen(self._log)
            is_cut = size < STORE_LEAST or length < least or os.pread(self._head, 4, 0) == HOLE
        except OSError:  # no right to look, or a disk that fails: that does not make it another file
            return
        if (store, log) == self._open and not is_cut:
            self._log_least = min(length, JOURNAL_BYTES)
            return
        name = self._path.name if store != self._open[0] or size < STORE_LEAST else f"{self._path.name}-wal"
        why = f"{name} was removed, moved, replaced or cut short while headcount had it open"
        if (
            store is not None
        ):  # where it is missing the next start sees that, and the home may be on its way out
            suspect(self._path, why)
        raise StoreFault("gone", f"{why}, in {self._path.parent}")

    def close(self) -> None:
        os.close(self._head)


def _seen(path: str) -> tuple[Identity, int]:
    """Which file that is, and its size."""
    try:
        there = os.stat(path)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None, 0
    return (there.st_dev, there.st_ino), there.st_size
