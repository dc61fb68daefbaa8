"""Leftovers in the store: kept with their session, forgotten with it, read back as they were."""

import asyncio
import sqlite3
from pathlib import Path

from msgspec.structs import replace

from headcount.core.values.events import Event, EventType
from headcount.core.values.leftover import Leftover, LeftoverId, LeftoverKind, gone
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId
from tests.store.conftest import Opener
from tests.store.sample_values import BEGAN, ended, session


def leftover(id: str = "l1", of: str | None = "s1") -> Leftover:
    process = ProcessIdentity("boot-1", 4026531836, 41377, 99, 1001)
    owner = SessionId(of) if of else None
    evidence = ("child seen 13:58", "CLAUDE_PID in its environment")
    facts = {"branches": [{"leaf": "x"}], "n": 1}
    return Leftover(
        LeftoverId(id),
        LeftoverKind.PROCESS,
        owner,
        process,
        "node vite",
        evidence,
        BEGAN,
        process,
        facts=facts,
    )


def found(seq: int, each: Leftover) -> Event:
    return Event(seq, BEGAN + seq, EventType.LEFTOVER_FOUND, each.session, leftover=each)


async def test_rows_and_events_are_read_back_as_they_were(open_store: Opener) -> None:
    store = open_store()
    first, second = leftover(), leftover("l2", None)
    await store.commit([found(1, first), found(2, second)], [session()], (), None, [first, second])
    lost = gone(first, BEGAN + 5, "it ended")
    await store.commit([], [], (), None, [lost])
    events = await store.history()
    store.close()
    assert [event.leftover for event in events] == [first, second]
    assert open_store().loaded.leftovers == [lost, second]


async def test_a_leftover_is_forgotten_with_its_session(open_store: Opener, path: Path) -> None:
    store = open_store()
    kept, alone = leftover("l2", "s2"), leftover("l3", None)
    rows = [ended("s1", BEGAN), session("s2")]
    await store.commit([found(1, leftover())], rows, (), None, [leftover(), kept, alone])
    await store.prune(before=BEGAN + 1000, max_bytes=10**9)
    await store.commit([], [], (), None, (), [alone.id])
    await store.commit([], [], [SessionId("s2")])
    store.close()
    assert open_store().loaded.leftovers == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM leftovers").fetchone() == (0,)


def test_a_store_from_before_leftovers_is_brought_up_to_date(open_store: Opener, path: Path) -> None:
    store = open_store()
    asyncio.run(store.commit([], [session()]))
    store.close()
    old = sqlite3.connect(path, isolation_level=None)
    old.execute("DROP TABLE leftovers")
    for table in ("meta", "sessions", "events", "claims", "requests", "tokens"):
        old.execute(f"ALTER TABLE {table} DROP COLUMN sum")
    old.execute("PRAGMA user_version = 3")
    old.close()
    loaded = open_store().loaded
    assert (len(loaded.sessions), loaded.leftovers) == (1, [])


def test_a_changed_leftover_is_one_row(open_store: Opener) -> None:
    store = open_store()
    changed = replace(leftover(), what="node vite --watch")
    asyncio.run(store.commit([], [session()], (), None, [leftover()]))
    asyncio.run(store.commit([], [], (), None, [changed]))
    store.close()
    assert open_store().loaded.leftovers == [changed]
