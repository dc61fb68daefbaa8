"""Witnesses: small marks which say that a store was served here, so that none is a lost one and not a fresh start.

A lock, a log and a mailbox also exist before the first store does: whoever installs hooks makes them, and a start that
failed leaves them. So what a serving daemon writes is what counts.

Rules
  1. Any mark is enough: the lock file has a word in it, the log directory has a mark, the mailbox has its flag, or there
     is a mark outside the home.
  2. The mark outside names the newest grant and the file that was served. It tells of a home that was removed whole, in
     whose place lies a copy, or whose store was put back to what it was before a grant. It lies in memory, since the
     processes that hold claims end with the boot too, under a name made of the directory above the home: a home that was
     carried elsewhere has none. An orderly stop removes it, or, while something is held, the file's number from it:
     who moves a home while no daemon runs may copy it.
  3. Others may write in that directory: the name has an end that nobody can guess, and only our own files count.

Not here: what a lost store means (core/claims/ledger.py), what a running daemon notices (home_watch.py), marks of agents (daemon/identity/environment_marks.py).
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from headcount.paths import Places
from headcount.private_files import open_to_append, read

WORD = b"a store is served here\n"
OUTSIDE = "/dev/shm"  # noqa: S108 (read only where it is a plain file of our own)
PATH_MOST = 4_096


def why_lost(places: Places) -> str | None:
    """What became of the store that was served here; None: it is there, or there never was one."""
    mark = _find(places.state)
    if os.path.exists(places.database):  # noqa: PTH110
        was = _lines(mark)[2:] if mark else []
        return "it was replaced" if was and was != [_number(places)] else None
    is_marked = mark or _said(places.lock) or _said(_in_log(places)) or os.path.exists(places.flag)  # noqa: PTH110
    return "it was removed" if is_marked else None


def why_older(places: Places, fence: int) -> str | None:
    """Why the store that lies there is an older one, by the newest fence in it; None: nothing says so."""
    mark = _find(places.state)
    newest = _lines(mark)[0] if mark else b""
    return "it is an older copy" if newest.isdigit() and int(newest) > fence else None


def bear(places: Places, fence: int) -> int | None:
    """A store is served now. The mark outside, to be told of grants; None: it cannot be made. Marks of other homes stay:
    from inside a sandbox a home that is there looks gone."""
    for mark in (places.lock, _in_log(places)):
        if _said(mark) != WORD:
            _write(mark, WORD)
    mark = _find(places.state) or f"{_prefix(places.state)}{os.urandom(8).hex()}"
    _write(mark, b"%020d\n%s\n%s" % (fence, os.fsencode(places.state), _number(places)))
    try:
        return os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None


def granted(mark: int | None, fence: int) -> None:
    """Before a grant is answered, and after it was stored."""
    if mark is not None:
        with suppress(OSError):
            os.pwrite(mark, b"%020d" % fence, 0)


def withdraw(places: Places, *, is_held: bool = False) -> None:
    """The store is closed in order."""
    mark = _find(places.state)
    if mark and is_held:
        _write(mark, b"\n".join(_lines(mark)[:2]))
    elif mark:
        with suppress(OSError):
            os.unlink(mark)


def _number(places: Places) -> bytes:
    return b"%d" % os.stat(places.database).st_ino  # noqa: PTH116


def _in_log(places: Places) -> str:
    return f"{places.log_directory}/.served"


def _find(state: str) -> str | None:
    """The mark outside of that home."""
    mine = (str(each) for each in Path(OUTSIDE).glob(f"{_prefix(state).rpartition('/')[2]}*"))
    return next((each for each in mine if _lines(each)[1:2] == [os.fsencode(state)]), None)


def _prefix(state: str) -> str:
    above, _, name = state.rpartition("/")
    there = None
    with suppress(OSError):
        there = os.stat(above or "/")  # noqa: PTH116
    key = f"{there and (there.st_dev, there.st_ino)} {name}".encode("utf-8", "surrogateescape")
    return f"{OUTSIDE}/headcount.{os.getuid()}.{sha256(key).hexdigest()[:16]}."


def _write(mark: str, word: bytes) -> None:
    with suppress(OSError):  # each is an extra
        fd = open_to_append(mark)
        os.ftruncate(fd, 0)
        os.write(fd, word)
        os.close(fd)


def _lines(mark: str) -> list[bytes]:
    return _said(mark).splitlines()


def _said(mark: str) -> bytes:
    try:
        return read(mark, PATH_MOST)
    except OSError:
        return b""
