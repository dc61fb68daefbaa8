"""A census looks at whom the kernel does not watch for us: an idle machine of many sessions costs it nothing."""

import asyncio
import os

from headcount.core.evidence import Judged
from headcount.core.world import World
from headcount.daemon.adapters import Adapters
from headcount.daemon.anchor import Anchors
from headcount.daemon.census import Census
from headcount.daemon.hosting import Hosting
from headcount.system.clock import SystemClock
from tests.rig.kernel import FakeKernel
from tests.rig.lone_loop import lone_loop


async def test_who_is_watched_is_not_looked_at_and_who_is_not_is_found_again() -> None:
    kernel, clock = FakeKernel(), SystemClock()
    processes = kernel.processes(None)
    world = World(processes.place())
    glanced: list[int] = []
    glance = processes.glance
    processes.glance = lambda pid: glanced.append(pid) or glance(pid)  # type: ignore[method-assign,func-returns-value]
    loop = lone_loop(world=world, prove=lambda process: processes.prove(process, world.place.machine))
    agents = [
        kernel.spawn(comm="claude", argv=("claude",), uid=os.getuid(), exe="/usr/bin/claude", ticks=1)
        for _ in range(20)
    ]
    running = asyncio.create_task(loop.run())
    try:
        anchors, adapters = Anchors(processes, clock, world.find_process), Adapters(loop.counts)
        hosting = Hosting(loop, processes, anchors, clock, adapters)
        census = Census(loop, processes, anchors, clock, adapters, hosting)
        await census.take()
        for each in agents[:-1]:
            processes.watch(each, lambda process, verdict: loop.submit(Judged(process, verdict, clock.now())))
        glanced.clear()
        await census.take()
        mine = {each.pid for each in agents}
        assert [pid for pid in glanced if pid in mine] == [agents[-1].pid], "the one that nobody watches"
        processes.unwatch(agents[0])
        glanced.clear()
        await census.take()
        assert {pid for pid in glanced if pid in mine} == {agents[0].pid, agents[-1].pid}
        assert len(world.sessions) == len(agents), "nobody was found twice, nobody was lost"
    finally:
        running.cancel()
