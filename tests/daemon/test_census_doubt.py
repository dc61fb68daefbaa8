"""A doubt that is over is told: an agent that could not be asked at the start, idle ever since."""

import asyncio

import pytest

from headcount.core.evidence import Judged
from headcount.core.identity import ProcessFacts
from headcount.core.session import Liveness
from headcount.core.verdict import unknown
from headcount.core.world import World
from headcount.daemon.adapters import Adapters
from headcount.daemon.anchor import Anchors
from headcount.daemon.census import Census
from headcount.daemon.hosting import Hosting
from headcount.system.clock import SystemClock
from tests.rig.kernel import FakeKernel
from tests.rig.lone_loop import lone_loop
from tests.rig.values import bound, report


@pytest.mark.parametrize("lives", [True, False])
async def test_whoever_was_in_doubt_is_asked_by_the_next_census(lives: bool) -> None:
    kernel, clock = FakeKernel(), SystemClock()
    processes = kernel.processes(None)
    world = World(processes.place())
    loop = lone_loop(world=world, prove=lambda process: processes.prove(process, world.place.machine))
    running = asyncio.create_task(loop.run())
    try:
        spawned = kernel.spawn(comm="bot")
        facts = processes.look(spawned.pid)
        assert isinstance(facts, ProcessFacts)
        await loop.ask(report(at=clock.now(), anchor=bound(facts.identity)))
        await loop.ask(Judged(facts.identity, unknown("no descriptor is left"), clock.now()))
        (session,) = world.sessions.values()
        assert session.liveness is Liveness.DOUBTED
        if not lives:
            kernel.exit(spawned.pid)
        anchors, adapters = Anchors(processes, clock, world.find_process), Adapters(loop.counts)
        hosting = Hosting(loop, processes, anchors, clock, adapters)
        await Census(loop, processes, anchors, clock, adapters, hosting).take()
        (session,) = world.sessions.values()
        assert session.liveness is (Liveness.ALIVE if lives else Liveness.ENDED)
    finally:
        running.cancel()
