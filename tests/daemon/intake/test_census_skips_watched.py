"""A census looks at whom the kernel does not watch for us: an idle machine of many sessions costs it nothing."""

import os

from headcount.core.values.evidence import Judged
from tests.rig.daemon.census_without_daemon import lone_census


async def test_who_is_watched_is_not_looked_at_and_who_is_not_is_found_again() -> None:
    async with lone_census() as looking:
        kernel, processes, clock, loop = looking.kernel, looking.processes, looking.clock, looking.loop
        glanced: list[int] = []
        glance = processes.glance
        processes.glance = lambda pid: glanced.append(pid) or glance(pid)  # type: ignore[method-assign,func-returns-value]
        agents = [
            kernel.spawn(comm="claude", argv=("claude",), uid=os.getuid(), exe="/usr/bin/claude", ticks=1)
            for _ in range(20)
        ]
        await looking.census.take()
        for each in agents[:-1]:
            processes.watch(each, lambda process, verdict: loop.submit(Judged(process, verdict, clock.now())))
        glanced.clear()
        await looking.census.take()
        mine = {each.pid for each in agents}
        assert [pid for pid in glanced if pid in mine] == [agents[-1].pid], "the one that nobody watches"
        processes.unwatch(agents[0])
        glanced.clear()
        await looking.census.take()
        assert {pid for pid in glanced if pid in mine} == {agents[0].pid, agents[-1].pid}
        assert len(looking.world.sessions) == len(agents), "nobody was found twice, nobody was lost"
