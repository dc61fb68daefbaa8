"""The log is folded into the file now and then, and nobody's commit pays for it."""

import asyncio
import sqlite3

import pytest

from headcount.store.sqlite import writer
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample_values import event, session
from tests.store.sqlite.test_threads import Gate


async def commit(store: SqliteStore, first: int, last: int) -> None:
    for n in range(first, last):
        await asyncio.wait_for(store.commit([event(n)], [session()]), 10)


async def test_who_made_the_log_long_is_answered_before_it_is_folded(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, gate = open_store(), Gate()
    monkeypatch.setattr(writer, "checkpoint", gate)
    await commit(store, 1, writer.CHANGES_IN_LOG // 2 + 1)  # an event and a row each
    assert await asyncio.to_thread(gate.entered.wait, 30)
    gate.open.set()
    await commit(store, 1000, 1002)


async def test_the_log_stays_short_however_much_is_written(open_store: Opener) -> None:
    store = open_store()
    statements: list[str] = []
    store._writer._connection.set_trace_callback(statements.append)
    await commit(store, 1, 4 * writer.CHANGES_IN_LOG)
    frames = await store._writer.run(
        lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    )
    assert statements.count("PRAGMA wal_checkpoint(PASSIVE)") >= 7
    assert 0 < frames < 1000, "never so long that SQLite would fold it within a commit"


async def test_a_log_that_cannot_be_folded_is_written_all_the_same(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def fail(connection: sqlite3.Connection) -> None:
        tried.append(1)
        raise sqlite3.OperationalError("disk I/O error")

    store = open_store()
    monkeypatch.setattr(writer, "checkpoint", fail)
    await commit(store, 1, 3 * writer.CHANGES_IN_LOG // 2 + 2)
    assert len(tried) == 3
    assert len(await store.history(limit=10_000)) == 3 * writer.CHANGES_IN_LOG // 2 + 1
