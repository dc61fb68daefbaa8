"""The store on SQLite: joins opening, writer and reader behind the store's interface, and prunes.

Rules
  1. Bodies are encoded in the caller's task, so that a value that cannot be stored fails its own caller only.
  2. Pruning removes by age, then by size. Events go from the old end only, so what is kept has no gap, and
     the newest always stays.
  3. Pruning goes in small steps, each one short transaction of the writer; waiting commits go between two
     steps.
  4. A wrong clock prunes too little, never too much.

Not here: opening and checking (opening.py), group commit (writer.py), queries (reader.py), when to prune
(daemon/engine/pruning.py).
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from headcount.core.state.claims import Entries
from headcount.core.values.events import Event
from headcount.core.values.leftover import Leftover, LeftoverId
from headcount.core.values.session import Session, SessionId
from headcount.store.codec import (
    encode_claim,
    encode_event,
    encode_leftover,
    encode_request,
    encode_session,
)
from headcount.store.interface import Loaded
from headcount.store.sql_files import query
from headcount.store.sqlite.opening import LOSS_ACCEPTED, open_file
from headcount.store.sqlite.reader import HistoryReader, Wanted, first_young, history, oldest
from headcount.store.sqlite.row_checksums import Row, summed
from headcount.store.sqlite.tokens_and_notes import Notes, TokenTable
from headcount.store.sqlite.writer import LedgerRows, Write, Writer, checkpoint, in_transaction
from headcount.times import CLOCK_SLACK

BITE_ROWS: Final = 20  # each may touch an index page of its own; 50 made commits wait 40 ms
BITE_PAGES: Final = 32
_ALL: Final = 2**63 - 1  # above every sequence number


class SqliteStore:
    def __init__(
        self,
        path: Path,
        machine: str,
        now: Callable[[], float],
        writer: Writer,
        reader: HistoryReader,
        loaded: Loaded,
    ) -> None:
        self._path = path
        self._machine = machine
        self._now = now
        self._began_on = loaded.machines
        self._writer = writer
        self._reader = reader
        self.loaded = loaded
        self.tokens = TokenTable(writer, reader)
        self.notes = Notes(writer, reader)

    @classmethod
    def open(
        cls, path: Path, *, machine: str, now: Callable[[], float], lost: str | None = None
    ) -> "SqliteStore":
        """Raises `StoreFault` or `NewerSchema`. A damaged file is set aside: see `loaded.set_aside`. `lost`: why
        what lies there is not the store that was served."""
        connection, loaded = open_file(path, machine, now, lost)
        return cls(path, machine, now, Writer(connection, path), HistoryReader(path), loaded)

    async def commit(
        self,
        events: Sequence[Event],
        rows: Sequence[Session],
        dropped: Sequence[SessionId] = (),
        ledger: Entries | None = None,
        leftovers: Sequence[Leftover] = (),
        cleared: Sequence[LeftoverId] = (),
    ) -> None:
        write = Write(
            [summed(encode_event(event)) for event in events],
            [_row(session, self._began_on.get(session.id, self._machine)) for session in rows],
            [(session,) for session in dropped],
            _ledger_rows(ledger) if ledger is not None else LedgerRows(),
            [_leftover_row(leftover) for leftover in leftovers],
            [(leftover,) for leftover in cleared],
        )
        await self._writer.write(write)

    async def history(
        self,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int = 1000,
        session: str | None = None,
        item: str | None = None,
        types: Sequence[str] = (),
        since: float | None = None,
        newest: bool = False,
    ) -> list[Event]:
        wanted = Wanted(after, until, limit, session, item, types, since, newest)
        return await self._reader.ask(partial(history, wanted=wanted))

    async def oldest(self) -> int:
        return await self._reader.ask(oldest)

    async def prune(self, *, before: float, max_bytes: int) -> int:
        return await prune(self._writer, self._reader, before=before, now=self._now(), max_bytes=max_bytes)

    def look(self) -> None:
        """Raises `StoreFault` of kind `gone` where its files are no longer those of their paths."""
        self._writer.place.look()

    def size(self) -> int:
        """Bytes on the disk, the log included."""
        total = 0
        for end in ("", "-wal"):
            with suppress(FileNotFoundError):
                total += self._path.with_name(self._path.name + end).stat().st_size
        return total

    def close(self) -> None:
        """Waits for what was asked before; the reader goes first, so that the writer's end
        checkpoints the log and removes it."""
        self._reader.close()
        self._writer.close()


def _leftover_row(leftover: Leftover) -> Row:
    body = encode_leftover(leftover)
    return summed((leftover.id, leftover.kind.value, leftover.session, leftover.gone_at, body))


def _row(session: Session, machine: str) -> Row:
    ended_at = None if session.ended is None else session.ended.at
    return summed(
        (
            session.id,
            session.agent,
            session.conversation,
            session.liveness.value,
            session.started_at,
            ended_at,
            machine,
            encode_session(session),
        )
    )


def _ledger_rows(entries: Entries) -> LedgerRows:
    return LedgerRows(
        [
            summed((claim.item, claim.fence, int(claim.is_held), encode_claim(claim)))
            for claim in entries.claims.values()
        ],
        [summed((each.id, each.at, encode_request(each))) for each in entries.requests.values()],
        [(id,) for id in entries.forgotten],
        [summed((LOSS_ACCEPTED, "1"))] if entries.accepts_loss else [],
    )


async def prune(writer: Writer, reader: HistoryReader, *, before: float, now: float, max_bytes: int) -> int:
    young = await reader.ask(partial(first_young, before=before, now=now + CLOCK_SLACK))
    removed = await _bites(writer, partial(_forget, "forget_events", {"below": young or _ALL}))
    removed += await _bites(writer, partial(_forget, "forget_sessions", {"before": before}))
    removed += await _bites(writer, partial(_forget_if_above, max_bytes))
    await _bites(writer, _shrink)
    await writer.run(checkpoint)  # the file gets shorter when the log is folded into it
    return removed


async def _bites(writer: Writer, bite: Callable[[sqlite3.Connection], int]) -> int:
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
