"""A value that no store can take: that one piece of evidence is set aside, and everybody else's is kept."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from headcount.core.values.events import Event
from headcount.daemon.engine.loop import NotStored, NotWeighed
from headcount.store.interface import FaultKind, StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.rig.agents.crowd import program
from tests.rig.agents.stand_in import Agent
from tests.rig.core_values import T0, report
from tests.rig.daemon.loop_without_daemon import lone_loop
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.store.sample_values import session

SURROGATE = "\udcff"  # a byte of a file name that is no text; JSON has no form for it


@contextlib.contextmanager
def agent_in(directory: bytes, programs: Path) -> Iterator[int]:
    os.mkdir(directory)
    process = subprocess.Popen(["claude", "600"], executable=program(programs), cwd=directory)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_an_agent_in_a_directory_whose_name_is_no_text_hurts_nobody(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    """The census finds it, and its directory is bytes that JSON cannot say."""
    with agent_in(os.fsencode(tmp_path) + b"/odd-\xff", tmp_path / "programs") as odd:
        eventually(lambda: daemon.sessions(pid=odd, liveness="alive"), within=20)
        other = agent()
        other.hook(daemon.mailbox, "SessionStart", source="startup")
        assert eventually(lambda: daemon.sessions(conversation=other.conversation, liveness="alive"))
        assert daemon.get("/healthz")["ok"] is True
    eventually(lambda: daemon.sessions(pid=odd, liveness="ended"))


class Store:
    """Takes everything but what holds a surrogate; fails in the way it is told while it is told to."""

    def __init__(self, kind: FaultKind = "value") -> None:
        self.kind: FaultKind = kind
        self.commits = 0
        self.stored: list[Event] = []

    async def commit(self, events: Sequence[Event], rows: Sequence[Any], *_: object) -> None:
        self.commits += 1
        if any(SURROGATE in (row.conversation or "") for row in rows):
            raise StoreFault(self.kind, "it cannot be stored")
        self.stored += events


async def outcomes_of(store: Any, names: Sequence[str]) -> list[object]:
    loop = lone_loop(store)
    answers = [loop.submit(report(at=T0 + nth, conversation=name)) for nth, name in enumerate(names)]
    running = asyncio.create_task(loop.run())
    try:
        return await asyncio.wait_for(asyncio.gather(*answers, return_exceptions=True), 20)
    finally:
        running.cancel()


BATCH = 200


@pytest.mark.parametrize("bad", [(0,), (BATCH - 1,), (0, 1), (99, 100), tuple(range(0, BATCH, 50)), ()])
async def test_only_what_cannot_be_stored_is_set_aside_in_few_tries(bad: tuple[int, ...]) -> None:
    store = Store()
    names = [f"c{nth}{SURROGATE if nth in bad else ''}" for nth in range(BATCH)]
    outcomes = await outcomes_of(store, names)
    assert [nth for nth, outcome in enumerate(outcomes) if isinstance(outcome, NotWeighed)] == list(bad)
    assert sum(isinstance(outcome, str) for outcome in outcomes) == BATCH - len(bad)
    assert store.commits <= 2 + 32 * len(bad), "halved, not tried one by one"
    numbers = [event.seq for event in store.stored]
    assert numbers == list(range(1, len(numbers) + 1)), "what was set aside used no number"


async def test_a_store_that_fails_for_another_reason_sets_nothing_aside() -> None:
    """The control: were every fault the value's, a full disk would throw all evidence away."""
    outcomes = await outcomes_of(Store("full"), ["a", f"b{SURROGATE}", "c"])
    assert all(isinstance(outcome, NotStored) for outcome in outcomes)


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "x" + SURROGATE},
        {"conversation": "x" + SURROGATE},
        {"name": object()},
        {"started_at": float("nan")},
    ],
)
async def test_the_real_store_says_that_it_is_the_value(tmp_path: Path, bad: dict[str, Any]) -> None:
    store = SqliteStore.open(tmp_path / "store.db", machine="m", now=lambda: T0)
    try:
        with pytest.raises(StoreFault) as fault:
            await store.commit([], [session("s1", **bad)])
        assert fault.value.kind == "value"
    finally:
        store.close()


@pytest.mark.parametrize("bad", ["x" + SURROGATE, 2**70, object()])
async def test_what_sqlite_itself_cannot_take_is_the_values_fault_too(tmp_path: Path, bad: Any) -> None:
    """A column that is handed over as it is, not through JSON."""
    store = SqliteStore.open(tmp_path / "store.db", machine="m", now=lambda: T0)
    try:
        with pytest.raises(StoreFault) as fault:
            await store._writer.run(lambda connection: connection.execute("SELECT ?", (bad,)).fetchall())
        assert fault.value.kind == "value"
    finally:
        store.close()


async def test_a_disk_that_fails_while_a_batch_is_halved_loses_and_reorders_nothing() -> None:
    """Evidence that nobody waits for is decided later, in its order."""
    store = Store()
    loop = lone_loop(store)
    right, failures = store.commit, iter([False, True, False])

    async def commit(*given: Any) -> None:
        if next(failures, False):  # the first try of the first half
            raise StoreFault("full", "no room")
        await right(*given)

    store.commit = commit  # type: ignore[method-assign]
    names = [f"c{nth}{SURROGATE if nth == 13 else ''}" for nth in range(16)]
    for nth, name in enumerate(names):
        loop.put(report(at=T0 + nth, conversation=name))
    running = asyncio.create_task(loop.run())
    try:
        async with asyncio.timeout(20):
            while len(loop.world.sessions) < 15:
                await asyncio.sleep(0.01)
    finally:
        running.cancel()
    kept = [
        each.conversation for each in sorted(loop.world.sessions.values(), key=lambda each: each.started_at)
    ]
    assert kept == [name for name in names if SURROGATE not in name]
    assert [each.seq for each in store.stored] == list(range(1, len(store.stored) + 1))
    begun = [each.session for each in store.stored if each.type.value == "session.started"]
    assert begun == [
        each.id for each in sorted(loop.world.sessions.values(), key=lambda each: each.started_at)
    ]
