"""The search for what the dead left: never on the loop, never for ever, and none that was asked for is dropped."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Sequence

import pytest

from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.evidence import Judged
from headcount.core.values.leftover import Leftover
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Proof, dead
from headcount.daemon.engine.loop import Loop
from headcount.daemon.leftovers import search as module
from headcount.daemon.leftovers.search import LeftoverSearch
from headcount.store.interface import StoreFault
from headcount.system.clock import SystemClock
from tests.rig.core_values import bound, report
from tests.rig.daemon.loop_without_daemon import Nothing
from tests.rig.kernel.fake_kernel import FakeKernel, FakeProcesses


class Held(FakeProcesses):
    """A look at all environments that waits until it may go on."""

    may_go_on: threading.Event
    began: threading.Event

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        self.began.set()
        self.may_go_on.wait(20)
        return super().carriers(names)


class Room:
    def __init__(self) -> None:
        self.kernel, self.clock = FakeKernel(), SystemClock()
        self.processes = Held(self.kernel, None, self.kernel.processes().place())
        self.processes.may_go_on, self.processes.began = threading.Event(), threading.Event()
        self.processes.may_go_on.set()
        self.world = World(self.processes.place())
        self.loop = Loop(
            self.world,
            Nothing(),
            self.clock,
            start_effects=lambda effects: None,
            tell=lambda events, world: self.search.noticed(events, world),
            prove=lambda process: self.processes.prove(process, self.world.place.machine),
        )
        here = self.processes.place().namespace
        self.search = LeftoverSearch(
            self.loop, self.processes, self.clock, BoundedThreads("look"), dict, lambda pid: here
        )

    async def dies(self) -> ProcessIdentity:
        agent = self.kernel.spawn(comm="bot", uid=os.getuid())
        await self.loop.ask(report(at=self.clock.now(), anchor=bound(agent)))
        self.kernel.kill(agent.pid)
        await self.loop.ask(Judged(agent, dead(Proof.EXITED, "it exited"), self.clock.now()))
        return agent

    def orphan(self) -> ProcessIdentity:
        """Of an agent that nobody remembers and that is over."""
        environ = {"CLAUDE_CODE_SESSION_ID": "9b3c8f6a-0000-4000-8000-00000000aaaa", "CLAUDE_PID": "77777"}
        return self.kernel.spawn(comm="vite", uid=os.getuid(), environ=environ)

    def left(self) -> list[Leftover]:
        return list(self.world.remains.there())


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    made = Room()
    running = asyncio.create_task(made.loop.run())
    yield made
    made.processes.may_go_on.set()
    made.search.close()
    running.cancel()


async def soon(*conditions: object) -> None:
    async with asyncio.timeout(10):
        while not all(each() for each in conditions):  # type: ignore[operator]
            await asyncio.sleep(0.005)


async def no_census() -> None:
    return


async def test_orphans_are_looked_for_at_a_start_also_when_a_search_runs_already(room: Room) -> None:
    room.processes.may_go_on.clear()
    await room.dies()
    await soon(room.processes.began.is_set)
    orphan = room.orphan()
    await room.search.start_up(no_census)
    room.processes.may_go_on.set()
    await soon(lambda: [each.process for each in room.left()] == [orphan])


async def test_a_start_looks_for_orphans_only_after_a_census_told_who_lives(room: Room) -> None:
    room.orphan()
    taken = asyncio.Event()

    async def census() -> None:
        await taken.wait()

    starting = asyncio.create_task(room.search.start_up(census))
    for _ in range(10):  # it could have begun by now
        await asyncio.sleep(0)
    assert not starting.done() and room.loop.counts["leftover_searches"] == 0
    taken.set()
    await starting
    await soon(room.processes.began.is_set, room.left)


async def test_orphans_that_could_not_be_looked_for_are_with_the_next_death(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEARCH_WITHIN", 0.05)
    room.processes.may_go_on.clear()
    orphan = room.orphan()
    await room.search.start_up(no_census)
    await soon(lambda: room.loop.counts["leftover_searches"] == 1)
    assert room.left() == []
    room.processes.may_go_on.set()
    monkeypatch.setattr(module, "SEARCH_WITHIN", 20)
    await room.dies()
    await soon(lambda: [each.process for each in room.left()] == [orphan])


async def test_a_search_that_hangs_keeps_nobody_waiting(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCH_WAITED_FOR", 0.05)
    room.processes.may_go_on.clear()
    agent = await room.dies()
    await soon(room.processes.began.is_set)
    async with asyncio.timeout(10):
        await room.search.searched(agent)
    assert not room.processes.may_go_on.is_set()


async def test_who_lived_when_is_not_worked_out_on_the_loop(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, right = [], module.lives

    def seen(*of: object) -> object:
        threads.append(threading.current_thread())
        return right(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "lives", seen)
    await room.dies()
    await soon(lambda: threads)
    assert threading.main_thread() not in threads


class FullOnce(Nothing):
    """A disk without room for the first find of a leftover."""

    refused = 0

    async def commit(self, events: Sequence[Event], *_: object) -> None:
        if not self.refused and any(each.leftover is not None for each in events):
            self.refused += 1
            raise StoreFault("full", "no room")


async def test_what_a_search_found_and_nobody_could_store_is_searched_for_with_the_next(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = FullOnce()
    monkeypatch.setattr(room.loop, "_store", full)
    agent = room.kernel.spawn(comm="bot", uid=os.getuid())
    await room.loop.ask(report(at=room.clock.now(), conversation="conv-a", anchor=bound(agent)))
    environ = {"CLAUDE_CODE_SESSION_ID": "conv-a", "CLAUDE_PID": str(agent.pid)}
    child = room.kernel.spawn(comm="vite", uid=os.getuid(), environ=environ)
    room.kernel.kill(agent.pid)
    await room.loop.ask(Judged(agent, dead(Proof.EXITED, "it exited"), room.clock.now()))
    await soon(lambda: full.refused, lambda: room.loop.counts["leftover_searches"] == 1)
    await room.search.searched(agent)
    assert room.left() == [] and not room.world.draft().remains.is_searched(agent)
    await room.dies()
    await soon(lambda: [each.process for each in room.left()] == [child])
    assert room.world.draft().remains.is_searched(agent)
