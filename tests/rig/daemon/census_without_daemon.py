"""A census without a daemon: a fake kernel, a loop that runs, and who looks for agents."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.open_conversations import OpenConversations
from headcount.system.clock import SystemClock
from tests.rig.daemon.loop_without_daemon import lone_loop
from tests.rig.kernel.fake_kernel import FakeKernel, FakeProcesses


@dataclass(frozen=True, slots=True)
class Looking:
    kernel: FakeKernel
    processes: FakeProcesses
    clock: SystemClock
    world: World
    loop: Loop
    census: Census


@asynccontextmanager
async def lone_census() -> AsyncIterator[Looking]:
    kernel, clock = FakeKernel(), SystemClock()
    processes = kernel.processes(None)
    world = World(processes.place())
    loop = lone_loop(world=world, prove=lambda process: processes.prove(process, world.place.machine))
    anchors, adapters = Anchors(processes, clock, world.find_process), Adapters(loop.counts)
    hosting = OpenConversations(
        loop, processes, anchors, clock, adapters, HostPaths(loop, BoundedThreads("look"), clock)
    )
    census = Census(loop, processes, anchors, clock, adapters, hosting)
    running = asyncio.create_task(loop.run())
    try:
        yield Looking(kernel, processes, clock, world, loop, census)
    finally:
        running.cancel()
