"""The loop with commands: who is proved when, and what becomes of those who wait."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headcount.core import liveness_proofs
from headcount.core.decide import decide
from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, ClaimRefused, Granted, HandOff, Held, Release
from headcount.core.values.evidence import Judged, Tick
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Proof, Verdict, alive, dead
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.store.interface import StoreFault
from headcount.system.clock import SystemClock
from tests.rig.core_values import HERE, T0, bound, process, report

A, B, C = process(100), process(200), process(300)
TASK, OTHER = Item("task:x"), Item("task:y")


class Memory:
    """A store that keeps nothing; `gate` holds a commit back, `fault` fails it."""

    def __init__(self) -> None:
        self.commits = 0
        self.fault: StoreFault | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def commit(self, *_: object) -> None:
        self.commits += 1
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault


class Office:
    def __init__(self) -> None:
        self.store = Memory()
        self.dead: set[ProcessIdentity] = set()
        self.proved: list[ProcessIdentity] = []
        self.world = World(HERE)
        self.loop = Loop(
            self.world,
            self.store,
            SystemClock(),
            start_effects=lambda effects: None,
            tell=lambda events, world: None,
            prove=self.prove,
        )

    def prove(self, process: ProcessIdentity) -> Verdict:
        self.proved.append(process)
        return dead(Proof.EXITED, "exited") if process in self.dead else alive("it lives")

    def acquire(
        self, who: ProcessIdentity, request: str, wait: float | None = None, item: Item = TASK
    ) -> Acquire:
        until = None if wait is None else SystemClock().now() + wait
        return Acquire(item, Caller(who), request, wait_until=until)

    @property
    def holder(self) -> ProcessIdentity | None:
        claim = self.world.book.claims.get(TASK)
        return claim.holder if claim else None

    async def until(self, condition) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0)


@asynccontextmanager
async def opened() -> AsyncIterator[Office]:
    office = Office()
    running = asyncio.create_task(office.loop.run())
    try:
        yield office
    finally:
        running.cancel()


async def test_a_batch_of_reports_asks_nobody():
    async with opened() as office:
        await office.loop.ask(report(anchor=bound(A)))
        await office.loop.ask(report("Stop", T0 + 1, anchor=bound(A)))
        assert len(office.world.sessions) == 1
        assert office.proved == []


async def test_whoever_is_granted_something_is_proved_before_and_after_the_commit():
    async with opened() as office:
        assert isinstance(await office.loop.command(office.acquire(A, "r")), Granted)
        assert office.proved == [A, A]


async def test_a_grant_to_one_who_died_while_it_was_stored_is_none():
    async with opened() as office:
        office.store.gate.clear()
        answer = asyncio.ensure_future(office.loop.command(office.acquire(A, "r")))
        await office.until(lambda: office.store.commits)
        office.dead.add(A)
        office.store.gate.set()
        refused = await answer
        assert isinstance(refused, ClaimRefused)
        assert refused.code == "dead"
        await office.until(lambda: office.holder is None)
        assert office.loop.counts["grants_undone"] == 1


async def test_the_next_in_line_gets_what_a_dying_waiter_was_granted():
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        b = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        c = asyncio.ensure_future(office.loop.command(office.acquire(C, "c", 60)))
        await office.until(lambda: len(office.world.book.asked) == 2)
        office.store.gate.clear()
        office.loop.put(Release(TASK, Caller(A)))
        await office.until(lambda: office.store.commits == 2)
        office.dead.add(B)
        office.store.gate.set()
        assert (await b).code == "dead"
        granted = await c
        assert granted.claim.holder == C
        assert granted.claim.fence == office.world.book.fence


async def test_who_waits_is_answered_when_it_is_released():
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.world.book.asked)
        await office.loop.command(Release(TASK, Caller(A)))
        assert (await waiting).claim.holder == B


async def test_a_death_that_shows_by_asking_serves_whoever_waits_for_anything_the_dead_one_held():
    """Else they would be set aside as not proved, for a second in which others overtake them."""
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        await office.loop.command(office.acquire(A, "a-other", item=OTHER))
        waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.world.book.asked)
        office.dead.add(A)
        assert isinstance(await office.loop.command(office.acquire(C, "c", item=OTHER)), Granted)
        assert office.holder == B, "in the very decision in which the death showed"
        assert (await waiting).claim.holder == B


async def test_a_grant_a_wait_and_a_death_are_each_decided_once(monkeypatch: pytest.MonkeyPatch):
    """Deciding anew is for what nobody could foresee: it costs as much as the first time."""
    decided = []

    def counted(*given: Any) -> Any:
        decided.append(given)
        return decide(*given)

    monkeypatch.setattr(liveness_proofs, "decide", counted)
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.world.book.asked)
        office.loop.put(Judged(A, dead(Proof.EXITED, "exited"), T0))
        assert (await waiting).claim.holder == B
        assert len(decided) == 3


async def test_who_hangs_up_leaves_the_line_unless_a_retry_listens():
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        first = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        again = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.loop.listeners.count("b") == 2)
        first.cancel()
        await asyncio.sleep(0.01)
        assert "b" in office.world.book.asked
        again.cancel()
        await office.until(lambda: "b" not in office.world.book.asked)
        await office.loop.command(Release(TASK, Caller(A)))
        assert office.holder is None


async def test_a_retry_that_was_on_its_way_to_the_disk_listens_when_the_first_hangs_up():
    """Else it would be withdrawn by its predecessor, and be answered never, not even at its deadline."""
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        first = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.loop.listeners.count("b") == 1)
        office.store.gate.clear()
        again = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        office.loop.put(report(anchor=bound(C)))  # what its batch is stored for
        await office.until(lambda: office.store.commits == 2)
        first.cancel()
        await office.until(first.done)
        office.store.gate.set()
        await office.until(lambda: office.loop.listeners.count("b") == 1)
        await office.loop.command(Release(TASK, Caller(A)))
        assert (await asyncio.wait_for(again, 5)).claim.holder == B


async def test_whom_it_was_handed_to_is_answered_where_it_waits():
    async with opened() as office:
        await office.loop.ask(report(anchor=bound(B)))
        (heir,) = office.world.sessions
        await office.loop.command(office.acquire(A, "a"))
        waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.world.book.asked)
        given = await office.loop.command(HandOff(TASK, heir, Caller(A)))
        assert (await asyncio.wait_for(waiting, 5)).claim == given.claim


async def test_a_deadline_is_answered_by_the_loops_own_timer():
    async with opened() as office:
        held = (await office.loop.command(office.acquire(A, "a"))).claim
        answer = await asyncio.wait_for(office.loop.command(office.acquire(B, "b", 0.05)), 5)
        assert answer.claim == held
        assert office.world.book.asked == {}


async def wait_while_the_clock_is_set(office: Office, by: float, wait: float, monkeypatch) -> asyncio.Future:
    await office.loop.command(office.acquire(A, "a"))
    waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", wait)))
    await office.until(lambda: office.world.book.asked)
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + by)
    await office.loop.ask(report(anchor=bound(C)))
    return waiting


async def test_a_clock_that_is_set_back_makes_no_wait_longer(monkeypatch: pytest.MonkeyPatch):
    async with opened() as office:
        waiting = await wait_while_the_clock_is_set(office, -3600, 0.3, monkeypatch)
        assert isinstance(await asyncio.wait_for(waiting, 20), Held)


async def test_a_clock_that_is_set_forward_ends_no_wait(monkeypatch: pytest.MonkeyPatch):
    async with opened() as office:
        waiting = await wait_while_the_clock_is_set(office, 3600, 600, monkeypatch)
        await office.loop.ask(Tick())
        assert not waiting.done()
        await office.loop.command(Release(TASK, Caller(A)))
        assert (await waiting).claim.holder == B


async def test_a_release_that_was_not_stored_serves_nobody():
    async with opened() as office:
        await office.loop.command(office.acquire(A, "a"))
        waiting = asyncio.ensure_future(office.loop.command(office.acquire(B, "b", 60)))
        await office.until(lambda: office.world.book.asked)
        office.store.fault = StoreFault("full", "no room")
        with pytest.raises(NotStored):
            await office.loop.command(Release(TASK, Caller(A)))
        assert (office.holder, waiting.done()) == (A, False)
        office.store.fault = None
        await office.loop.command(Release(TASK, Caller(A)))
        assert (await waiting).claim.holder == B


async def test_a_command_that_is_cancelled_in_the_moment_it_is_answered_leaves_nothing():
    """The answer is there, and whoever waits for it has not been woken yet: cancelling then loses it."""
    async with opened() as office:
        submit = office.loop.submit

        def watched(evidence):
            told = submit(evidence)
            told.add_done_callback(lambda _: asks.cancel())  # before the one that wakes the caller
            return told

        office.loop.submit = watched
        asks = asyncio.ensure_future(office.loop.command(office.acquire(A, "r")))
        await asyncio.wait({asks})
        assert asks.cancelled()
        await office.until(lambda: office.holder is None)
