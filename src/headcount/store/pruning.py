"""Forgetting: by age, then by size, in bites that no commit waits long for.

Rules of this file
  1. Events go from the old end only, so what is kept has no gap, and the newest always stays.
  2. Each bite is one short transaction of the writer; commits that wait go between two bites.
  3. A wrong clock forgets too little, never too much.

Not here: when and how often (daemon/), the bounds (times.py, settings).
"""

import sqlite3
from functools import partial
from typing import Any, Final

from headcount.store.sql_files import query
from headcount.store.sqlite.reader import Reader, first_young
from headcount.store.sqlite.writer import Writer, checkpoint, in_transaction
from headcount.times import CLOCK_SLACK

BITE_ROWS: Final = 20  # each may touch an index page of its own; 50 made commits wait 40 ms
BITE_PAGES: Final = 32
_ALL: Final = 2**63 - 1  # above every sequence number


async def prune(writer: Writer, reader: Reader, *, before: float, now: float, max_bytes: int) -> int:
    young = await reader.ask(partial(first_young, before=before, now=now + CLOCK_SLACK))
    removed = await _bites(writer, partial(_forget, "forget_events", {"below": young or _ALL}))
    removed += await _bites(writer, partial(_forget, "forget_sessions", {"before": before}))
    removed += await _bites(writer, partial(_forget_if_above, max_bytes))
    await _bites(writer, _shrink)
    await writer.run(checkpoint)  # the file gets shorter when the log is folded into it
    return removed


async def _bites(writer: Writer, bite: Any) -> int:
    total = 0
    while taken := await writer.run(bite):
        total += taken
    return total


def _forget(name: str, bounds: dict[str, float], connection: sqlite3.Connection) -> int:
    given = {**bounds, "limit": BITE_ROWS}
    return in_transaction(connection, lambda c: c.execute(query(name), given).rowcount)


def _forget_if_above(max_bytes: int, connection: sqlite3.Connection) -> int:
    pages, free, page_bytes = (
        _pragma(connection, name) for name in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * page_bytes <= max_bytes:
        return 0
    return _forget("forget_events", {"below": _ALL}, connection)


def _shrink(connection: sqlite3.Connection) -> int:
    """Give free pages back to the file system. (`execute` would take one page and stop.)"""
    before = _pragma(connection, "freelist_count")
    if before:
        connection.executescript(f"PRAGMA incremental_vacuum({BITE_PAGES})")
    return before - _pragma(connection, "freelist_count")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    found: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return found
