"""Read history, on a connection and a thread of its own.

Rules
  1. The connection cannot write, and is opened when it is first needed.
  2. The reader never blocks the writer, and closing ends its query.
  3. Events of a type that this version does not know are left out.

Not here: the rows of sessions, which are read once at the start (opening.py).
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from headcount.core.values.events import Event
from headcount.store.codec import decode_event
from headcount.store.interface import StoreFault
from headcount.store.sql_files import query
from headcount.store.sqlite.damage import suspect
from headcount.store.sqlite.driver_errors import translate
from headcount.store.sqlite.row_checksums import Row, Unsound, sound
from headcount.times import STORE_BUSY_WITHIN

T = TypeVar("T")

UNREADABLE = (msgspec.MsgspecError, Unsound, TypeError)  # TypeError: a column that is of another type by now

STEPS_BETWEEN_ASKING = 20_000  # of SQLite's machine: about a millisecond


class Wanted(Struct, frozen=True):
    """Which part of the journal is asked for."""

    after: int
    until: int | None
    limit: int
    session: str | None
    item: str | None
    types: Sequence[str]
    since: float | None
    newest: bool


class HistoryReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store-reader")
        self._closed = False

    async def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise StoreFault("other", "the store is closed: start headcount again")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, question)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._thread.submit(self._disconnect)
        self._thread.shutdown(wait=True)

    # --- in the thread ---------------------------------------------------------------------------

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = _connect(self._path)
                # A query asks now and then whether it should go on. `interrupt` would miss one that is
                # about to begin.
                self._connection.set_progress_handler(lambda: self._closed, STEPS_BETWEEN_ASKING)
            return question(self._connection)
        except UNREADABLE as error:
            suspect(self._path)
            raise StoreFault("corrupt", f"an event in {self._path} cannot be read: {error}") from error
        except Exception as error:
            fault = translate(error, self._path)
            if fault.kind == "corrupt":
                suspect(self._path)
            raise fault from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()


def history(connection: sqlite3.Connection, wanted: Wanted) -> list[Event]:
    parts = ["history"]
    given: dict[str, object] = {
        "after": max(wanted.after, _floor(connection, wanted.since)),
        "limit": wanted.limit,
    }
    optional = {
        "until": wanted.until,
        "session": wanted.session,
        "item": wanted.item,
        "types": json.dumps(list(wanted.types)) if wanted.types else None,
        "since": wanted.since,
    }
    for name, value in optional.items():
        if value is not None:
            parts.append(f"history_{name}")
            given[name] = value
    parts.append("history_newest_first" if wanted.newest else "history_oldest_first")
    rows = connection.execute(query(*parts), given).fetchall()
    if wanted.newest:
        rows.reverse()
    if not (wanted.session or wanted.item or wanted.types or wanted.since is not None):
        _check_gapless(rows)
    return [event for event in (decode_event(sound(row)) for row in rows) if event is not None]


def _check_gapless(rows: list[Row]) -> None:
    """Numbers are given one after the other and forgotten from the old end: none is missing in between."""
    for before, row in pairwise(rows):
        if row[0] != before[0] + 1:
            raise Unsound(f"events are missing or misplaced between {before[0]} and {row[0]}")


def _floor(connection: sqlite3.Connection, since: float | None) -> int:
    """No event up to this number is of that time; without it a million older rows would be read."""
    if since is None:
        return 0
    first: int | None = connection.execute(query("first_since"), {"since": since}).fetchone()[0]
    return 0 if first is None else first - 1


def oldest(connection: sqlite3.Connection) -> int:
    return connection.execute(query("oldest_seq")).fetchone()[0] or 0


def first_young(connection: sqlite3.Connection, before: float, now: float) -> int | None:
    found: int | None = connection.execute(
        query("first_young_event"), {"before": before, "now": now}
    ).fetchone()[0]
    return found


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=ro",
        uri=True,
        isolation_level=None,
        timeout=STORE_BUSY_WITHIN,
    )
    connection.execute("PRAGMA cell_size_check = ON")
    return connection
