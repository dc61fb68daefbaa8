"""Readers and the writer do not wait for each other; callers that wait share one transaction."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample_values import event, session


class Gate:
    """Holds a thread inside a task until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, connection: sqlite3.Connection) -> None:
        self.entered.set()
        assert self.open.wait(30)


async def test_callers_that_wait_are_written_in_one_transaction(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    statements: list[str] = []
    gate = Gate()
    holding = asyncio.ensure_future(store._writer.run(gate))
    await asyncio.to_thread(gate.entered.wait, 30)
    store._writer._connection.set_trace_callback(statements.append)
    calls = [asyncio.ensure_future(store.commit([event(n)], [session(f"s{n}")])) for n in range(1, 17)]
    await asyncio.sleep(0)
    gate.open.set()
    await asyncio.gather(holding, *calls)
    store._writer._connection.set_trace_callback(None)
    assert statements.count("COMMIT") == 1


async def test_history_is_answered_while_a_commit_is_stuck(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [])
    gate = Gate()
    holding = asyncio.ensure_future(store._writer.run(gate))
    await asyncio.to_thread(gate.entered.wait, 30)
    assert [one.seq for one in await asyncio.wait_for(store.history(), 10)] == [1]
    gate.open.set()
    await holding


async def test_a_reader_in_mid_transaction_does_not_hold_up_the_writer(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [])
    gate = Gate()

    def read_slowly(connection: sqlite3.Connection) -> int:
        connection.execute("BEGIN")
        connection.execute("SELECT max(seq) FROM events").fetchone()
        gate(connection)
        seen: int = connection.execute("SELECT max(seq) FROM events").fetchone()[0]
        connection.execute("COMMIT")
        return seen

    reading = asyncio.ensure_future(store._reader.ask(read_slowly))
    await asyncio.to_thread(gate.entered.wait, 30)
    for n in range(2, 600):  # past several checkpoints
        await asyncio.wait_for(store.commit([event(n)], [session()]), 10)
    gate.open.set()
    assert await reading == 1  # what it saw when it began


async def test_the_reader_cannot_write(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [])
    with pytest.raises(StoreFault) as told:
        await store._reader.ask(lambda connection: connection.execute("DELETE FROM events"))
    assert told.value.kind == "readonly"


async def test_a_stop_interrupts_a_long_query(open_store: Opener) -> None:
    store = open_store()
    begun = threading.Event()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    def query(connection: sqlite3.Connection) -> None:
        begun.set()
        connection.execute(endless).fetchone()

    asking = asyncio.ensure_future(store._reader.ask(query))
    await asyncio.to_thread(begun.wait, 30)
    await asyncio.to_thread(store.close)
    with pytest.raises(StoreFault):
        await asking


async def test_another_programs_lock_is_told_as_busy_and_passes(open_store: Opener, path: Path) -> None:
    store = open_store()
    rival = sqlite3.connect(path, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFault) as told:
        await store.commit([event(1)], [])
    assert told.value.kind == "busy"
    rival.execute("ROLLBACK")
    rival.close()
    await store.commit([event(1)], [])


async def test_a_write_that_changes_less_than_asked_is_a_fault(open_store: Opener) -> None:
    """Accident C3: an update that changed no row printed success."""
    store = open_store()
    trigger = "CREATE TRIGGER deaf BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END"
    await store._writer.run(lambda connection: connection.execute(trigger))
    with pytest.raises(StoreFault):
        await store.commit([event(1)], [session()])
    await store._writer.run(lambda connection: connection.execute("DROP TRIGGER deaf"))
    await store.commit([event(1)], [])


async def test_a_caller_that_gave_up_disturbs_nobody(open_store: Opener) -> None:
    store = open_store()
    impatient = asyncio.ensure_future(store.commit([event(1)], []))
    await asyncio.sleep(0)
    impatient.cancel()
    await store.commit([event(2)], [])
    assert impatient.cancelled()


def test_a_store_serves_one_loop_after_another(open_store: Opener) -> None:
    store: SqliteStore = open_store()
    asyncio.run(store.commit([event(1)], []))
    asyncio.run(store.commit([event(2)], []))
    assert len(asyncio.run(store.history())) == 2
