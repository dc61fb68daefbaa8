"""Witnesses: small marks which say that a store was served here, so that none is a lost one and not a fresh start.

A lock, a log and a mailbox also exist before the first store does: whoever installs hooks makes them, and a start that
failed leaves them. So what a serving daemon writes is what counts.

Rules of this file
  1. Any mark is enough: the lock file has a word in it, the log directory has a mark, the mailbox has its flag, or there
     is a mark outside the home.
  2. The mark outside names the file that was served. It tells of a home that was removed whole, or in whose place lies
     a copy. It lies in memory, since the processes that hold claims end with the boot too, under a name made of the
     directory above the home: a home that was carried elsewhere has none. An orderly stop removes it, or, while
     something is held, the file's number from it: who moves a home while no daemon runs may copy it.

Not here: what a lost store means (core/ledger.py), what a running daemon notices (home.py), marks of agents (marks.py).
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from headcount.own_files import open_to_append, read
from headcount.paths import Places

WORD = b"a store is served here\n"
OUTSIDE = "/dev/shm"  # noqa: S108 (read only where it is a plain file of our own)
PATH_MOST = 4_096


def why_lost(places: Places) -> str | None:
    """What became of the store that was served here; None: it is there, or there never was one."""
    outside = _said(_outside(places.state))
    if os.path.exists(places.database):  # noqa: PTH110
        was = outside.splitlines()[1:]
        return "it was replaced" if was and was != _served(places).splitlines()[1:] else None
    is_marked = outside or _said(places.lock) or _said(_in_log(places)) or os.path.exists(places.flag)  # noqa: PTH110
    return "it was removed" if is_marked else None


def bear(places: Places) -> None:
    """A store is served now. Marks outside whose home's place is gone are of nobody, and are removed."""
    marks = {places.lock: WORD, _in_log(places): WORD, _outside(places.state): _served(places)}
    for mark, word in marks.items():
        _write(mark, word)
    for other in Path(OUTSIDE).glob(f"headcount-{os.getuid()}-*"):
        said = _said(str(other)).splitlines()  # nothing: it is being written
        if said and _outside(os.fsdecode(said[0])) != str(other):
            with suppress(OSError):
                other.unlink()


def withdraw(places: Places, *, is_held: bool = False) -> None:
    """The store is closed in order."""
    if is_held:
        _write(_outside(places.state), os.fsencode(places.state))
        return
    with suppress(OSError):
        os.unlink(_outside(places.state))


def _served(places: Places) -> bytes:
    there = os.stat(places.database)  # noqa: PTH116
    return os.fsencode(f"{places.state}\n{there.st_ino}")


def _in_log(places: Places) -> str:
    return f"{places.log_directory}/.served"


def _outside(state: str) -> str:
    above, _, name = state.rpartition("/")
    there = None
    with suppress(OSError):
        there = os.stat(above or "/")  # noqa: PTH116
    key = f"{there and (there.st_dev, there.st_ino)} {name}".encode("utf-8", "surrogateescape")
    return f"{OUTSIDE}/headcount-{os.getuid()}-{sha256(key).hexdigest()[:16]}"


def _write(mark: str, word: bytes) -> None:
    if _said(mark) == word:
        return
    with suppress(OSError):  # each is an extra
        fd = open_to_append(mark)
        os.ftruncate(fd, 0)
        os.write(fd, word)
        os.close(fd)


def _said(mark: str) -> bytes:
    try:
        return read(mark, PATH_MOST)
    except OSError:
        return b""
