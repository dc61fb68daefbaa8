"""Damage: find it in SQLite's log (WAL), and set a damaged file aside.

Why the log is checked: SQLite reads its log as far as it is sound, and takes the rest for the remains of a
transaction that a crash cut short. That is right for the last transaction only: each commit is synced before
the next one begins, so everything before the last one was on the disk. If something before it is broken, the
file was damaged, and SQLite would show an old state: claims granted since would be free, and their fencing
tokens given again.

What this cannot see: a log whose last commit alone is broken or whose end is missing, and a broken last but
one commit if the very sector with its commit mark is lost: what is left of the two looks like one transaction
that was cut short.

Rules
  1. Damage is one unbroken run of frames with two commits, from the first unsound frame on. The remains of
     one transaction, cut short or rolled back, have one commit at most. A run begins with the frame that the
     next sound frame continues: that frame was written first, although it is broken itself or follows a
     broken one.
  2. An unsound header with anything behind it is damage: the header is synced before the first frame is
     written, and lies in one sector.
  3. Frames of an earlier use of the same log carry other salts and do not count.
  4. The check only reads, before SQLite does, and reads at most `READ_MOST`.
  5. A damaged file is renamed and reported, never deleted, never emptied. The new names can still be opened:
     `<name>.corrupt-<stamp>` with its `-wal` and `-shm`.
  6. The file is renamed first and its log after it. If that is cut short, the next start finds a log without
     a file, which counts as damage, and not a file without its log, which looks whole.
  7. Damage that is met while serving leaves a mark, so that the next start checks everything. A mark that
     contains a reason says that the file is not the one that was served: the next start sets it aside unread.

Not here: when a file is checked and set aside (opening.py). The log's format:
https://www.sqlite.org/fileformat2.html#walformat
"""

import os
import struct
import sys
import time
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from headcount.private_files import open_to_append, read
from headcount.store.sqlite.schema import SIDE_FILES, Damaged, sync

READ_MOST: Final = 64 * 1024 * 1024  # a log of one huge transaction; more is left to SQLite
_MAGIC: Final = (0x377F0682, 0x377F0683)
_HEADER: Final = struct.Struct(">8I")  # magic, form, size of a page, checkpoint, two salts, two sums
_FRAME: Final = struct.Struct(">6I")  # page, pages after a commit or 0, two salts, two sums
_SUMMED: Final = 8  # bytes of a frame's head that are part of its sum
_LEAST_RUN: Final = 2
_NATIVE: Final = sys.byteorder
WHY_MOST: Final = 1_000  # bytes of a mark

Sum = tuple[int, int]


class Frame(NamedTuple):
    is_commit: bool
    salts: tuple[int, int]
    said: Sum  # its sum, as it says; each goes on from that of the frame before
    summed: memoryview  # head and page, over which it is


def check_log(path: Path) -> None:
    """Raises Damaged."""
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not _HEADER.size < log.stat().st_size <= READ_MOST:
        return
    why = damage_in(log.read_bytes())
    if why is not None:
        raise Damaged(why)


def damage_in(log: bytes) -> str | None:
    if len(log) <= _HEADER.size:
        return None  # a head without frames: it need not be whole yet
    magic, _, size, _, *rest = _HEADER.unpack_from(log)
    salts, said = (rest[0], rest[1]), (rest[2], rest[3])
    order = "big" if magic == _MAGIC[1] else "little"
    if magic not in _MAGIC or _sum(memoryview(log)[: _HEADER.size - _SUMMED], (0, 0), order) != said:
        return "the head of its log is damaged"
    commits, is_sound, before = 0, True, said
    for frame in _frames(log, size):
        fits = frame.salts == salts and _sum_of(frame, before, order) == frame.said
        before = frame.said
        is_sound = is_sound and fits
        if not is_sound:
            commits = commits + frame.is_commit if fits else frame.is_commit and frame.salts == salts
        if commits >= _LEAST_RUN:
            return "commits lie behind a damaged part of its log"
    return None


def _frames(log: bytes, size: int) -> Iterator[Frame]:
    view = memoryview(log)
    for at in range(_HEADER.size, len(log) - _FRAME.size - size + 1, _FRAME.size + size):
        _, pages, salt, other, one, two = _FRAME.unpack_from(log, at)
        yield Frame(pages != 0, (salt, other), (one, two), view[at : at + _FRAME.size + size])


def _sum_of(frame: Frame, before: Sum, order: str) -> Sum:
    return _sum(frame.summed[_FRAME.size :], _sum(frame.summed[:_SUMMED], before, order), order)


def _sum(data: memoryview, start: Sum, order: str) -> Sum:
    """SQLite's own: over pairs of 32-bit words, in the byte order that the header names."""
    words = array("I", bytes(data))
    if order != _NATIVE:
        words.byteswap()
    one, two = start
    pairs = iter(words)
    for even in pairs:
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + next(pairs) + one) & 0xFFFFFFFF
    return one, two


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
