"""Gathering: whoever comes in together is stored together, and nobody waits for a stream that never ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from headcount.daemon.engine import loop as looping
from headcount.daemon.engine.loop import BATCH_MOST, Loop
from tests.rig.core_values import T0, bound, process, report
from tests.rig.daemon.loop_without_daemon import lone_loop

CALLERS = 16
COMMIT_TURNS = 4  # of the event loop, while a thread syncs


class Counting:
    """A store that keeps nothing but how much each commit brought."""

    def __init__(self) -> None:
        self.brought: list[int] = []

    async def commit(self, events: list[object], *_: object) -> None:
        self.brought.append(len(events))
        for _ in range(COMMIT_TURNS):
            await asyncio.sleep(0)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Loop, Counting]]:
    store = Counting()
    loop = lone_loop(store)
    running = asyncio.create_task(loop.run())
    try:
        yield loop, store
    finally:
        running.cancel()


async def ask_after(loop: Loop, turns: int) -> None:
    """A caller whose request is read that many turns of the event loop after the first."""
    for _ in range(turns):
        await asyncio.sleep(0)
    await loop.ask(report(anchor=bound(process(100 + turns)), conversation=f"c-{turns}"))


async def commits_of_callers() -> int:
    async with opened() as (loop, store):
        await asyncio.gather(*(ask_after(loop, nth) for nth in range(CALLERS)))
        assert len(loop.world.sessions) == CALLERS
        return len(store.brought)


async def test_callers_that_come_in_one_by_one_are_stored_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is not kept waiting; the others come in while it is being stored."""
    monkeypatch.setattr(looping, "GATHERED_WITHIN", 60.0)
    assert await commits_of_callers() == 2


async def test_without_gathering_the_same_callers_need_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: as it was."""
    monkeypatch.setattr(looping, "QUIET_TURNS", 0)
    assert await commits_of_callers() > 2


async def test_whoever_comes_alone_is_not_kept_waiting_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loop, "_gather", lambda loop: pytest.fail("there is nobody to wait for"))
    async with asyncio.timeout(10), opened() as (loop, store):
        for nth in range(3):
            await loop.ask(report(at=T0 + nth, anchor=bound(process(100))))
        assert len(store.brought) == 3


async def endless(loop: Loop) -> None:
    nth = 0
    while True:
        loop.put(report(at=T0 + nth, anchor=bound(process(100))))
        nth += 1
        await asyncio.sleep(0)


@pytest.mark.parametrize("within", [0.0, 60.0])
async def test_a_stream_that_never_ends_does_not_hold_the_first_back(
    within: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded by time and, where the turns are quicker than that, by what one batch takes."""
    monkeypatch.setattr(looping, "GATHERED_WITHIN", within)
    async with opened() as (loop, store):
        loop.put(report(at=T0, anchor=bound(process(100))))
        stream = asyncio.create_task(endless(loop))
        try:
            async with asyncio.timeout(10):
                await loop.ask(report(at=T0, anchor=bound(process(200)), conversation="first"))
        finally:
            stream.cancel()
        assert store.brought[0] <= BATCH_MOST
        assert within or store.brought[0] < BATCH_MOST / 2
