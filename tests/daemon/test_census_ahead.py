"""The first census begins while the rest of a start is under way, and is told when it is asked for."""

import asyncio
import os

from headcount.core.world import World
from headcount.daemon.adapters import Adapters
from headcount.daemon.anchor import Anchors
from headcount.daemon.census import Census
from headcount.daemon.hosting import Hosting
from headcount.system.clock import SystemClock
from tests.rig.kernel import FakeKernel
from tests.rig.lone_loop import lone_loop


async def test_a_look_ahead_tells_nothing_until_the_census_is_taken_and_serves_one_census() -> None:
    kernel, clock = FakeKernel(), SystemClock()
    processes = kernel.processes(None)
    world = World(processes.place())
    looks: list[int] = []
    pids = processes.pids
    processes.pids = lambda: looks.append(1) or pids()  # type: ignore[method-assign,func-returns-value]
    loop = lone_loop(world=world, prove=lambda process: processes.prove(process, world.place.machine))
    kernel.spawn(comm="claude", argv=("claude",), uid=os.getuid(), exe="/usr/bin/claude", ticks=1)
    running = asyncio.create_task(loop.run())
    try:
        anchors, adapters = Anchors(processes, clock, world.find_process), Adapters(loop.counts)
        hosting = Hosting(loop, processes, anchors, clock, adapters)
        census = Census(loop, processes, anchors, clock, adapters, hosting)
        census.look_ahead()
        assert census._ahead is not None
        await asyncio.wait([census._ahead])
        assert not world.sessions
        await census.take()
        assert (len(looks), len(world.sessions)) == (1, 1)
        await census.take()
        assert len(looks) == 2
    finally:
        running.cancel()
