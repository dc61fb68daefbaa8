"""The first census begins while the rest of a start is under way, and is told when it is asked for."""

import asyncio
import os

from tests.rig.daemon.census_without_daemon import lone_census


async def test_a_look_ahead_tells_nothing_until_the_census_is_taken_and_serves_one_census() -> None:
    async with lone_census() as looking:
        kernel, processes, census, world = looking.kernel, looking.processes, looking.census, looking.world
        looks: list[int] = []
        pids = processes.pids
        processes.pids = lambda: looks.append(1) or pids()  # type: ignore[method-assign,func-returns-value]
        kernel.spawn(comm="claude", argv=("claude",), uid=os.getuid(), exe="/usr/bin/claude", ticks=1)
        census.look_ahead()
        assert census._ahead is not None
        await asyncio.wait([census._ahead])
        assert not world.sessions
        await census.take()
        assert (len(looks), len(world.sessions)) == (1, 1)
        await census.take()
        assert len(looks) == 2
