"""Ways to damage a store: what disks, file systems, backups and people do to files.

Rules of this file
  1. Each takes the two files as bytes and gives them back damaged; chance comes in, so that a seed repeats it.
  2. The end of a log that is merely missing is none of them, nor is a page that the disk gives back as it was before:
     nothing in the files says that there was more.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

PAGE = 4096
SECTOR = 512
HEADER = 100
WAL_HEADER = 32


@dataclass(frozen=True, slots=True)
class Files:
    database: bytes
    log: bytes


Damage = Callable[[Files, random.Random], Files]


def _written(data: bytes, at: int, piece: bytes) -> bytes:
    return data[:at] + piece + data[at + len(piece) :]


def _flipped(data: bytes, chance: random.Random, first: int = 0, last: int | None = None) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        at = chance.randrange(first, len(data) if last is None else last)
        data = _written(data, at, bytes([data[at] ^ 1 << chance.randrange(8)]))
    return data


def _page(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) // PAGE) * PAGE


def flipped_bits(files: Files, chance: random.Random) -> Files:
    return replace(files, database=_flipped(files.database, chance))


def flipped_header(files: Files, chance: random.Random) -> Files:
    return replace(files, database=_flipped(files.database, chance, 0, HEADER))


def zeroed_page(files: Files, chance: random.Random) -> Files:
    return replace(files, database=_written(files.database, _page(files.database, chance), bytes(PAGE)))


def zeroed_sector(files: Files, chance: random.Random) -> Files:
    at = chance.randrange(len(files.database) // SECTOR) * SECTOR
    return replace(files, database=_written(files.database, at, bytes(SECTOR)))


def garbage_page(files: Files, chance: random.Random) -> Files:
    at = _page(files.database, chance)
    return replace(files, database=_written(files.database, at, chance.randbytes(PAGE)))


def swapped_pages(files: Files, chance: random.Random) -> Files:
    one, other = (_page(files.database, chance) for _ in range(2))
    data = files.database
    first, second = data[one : one + PAGE], data[other : other + PAGE]
    return replace(files, database=_written(_written(data, one, second), other, first))


def cut_anywhere(files: Files, chance: random.Random) -> Files:
    return replace(files, database=files.database[: chance.randrange(len(files.database))])


def cut_at_a_page(files: Files, chance: random.Random) -> Files:
    return replace(files, database=files.database[: _page(files.database, chance)])


def flipped_log(files: Files, chance: random.Random) -> Files:
    return replace(files, log=_flipped(files.log, chance, WAL_HEADER))


def zeroed_in_the_log(files: Files, chance: random.Random) -> Files:
    at = chance.randrange(WAL_HEADER, len(files.log) - SECTOR)
    return replace(files, log=_written(files.log, at, bytes(SECTOR)))


def garbage_in_the_log(files: Files, chance: random.Random) -> Files:
    at = chance.randrange(WAL_HEADER, len(files.log) // 2)
    return replace(files, log=_written(files.log, at, chance.randbytes(PAGE)))


def garbage_log(files: Files, chance: random.Random) -> Files:
    return replace(files, log=chance.randbytes(len(files.log)))


def flipped_log_header(files: Files, chance: random.Random) -> Files:
    return replace(files, log=_flipped(files.log, chance, 0, WAL_HEADER))


IN_THE_FILE: tuple[Damage, ...] = (
    flipped_bits,
    flipped_bits,
    flipped_bits,
    flipped_header,
    zeroed_page,
    zeroed_sector,
    garbage_page,
    swapped_pages,
    cut_anywhere,
    cut_at_a_page,
)
IN_THE_LOG: tuple[Damage, ...] = (
    flipped_log,
    zeroed_in_the_log,
    garbage_in_the_log,
    garbage_log,
    flipped_log_header,
)
DAMAGES = (*IN_THE_FILE, *IN_THE_LOG)
