"""A doubt that is over is told: an agent that could not be asked at the start, idle ever since."""

import pytest

from headcount.core.values.evidence import Judged
from headcount.core.values.process import ProcessFacts
from headcount.core.values.session import Liveness
from headcount.core.values.verdict import unknown
from tests.rig.core_values import bound, report
from tests.rig.daemon.census_without_daemon import lone_census


@pytest.mark.parametrize("lives", [True, False])
async def test_whoever_was_in_doubt_is_asked_by_the_next_census(lives: bool) -> None:
    async with lone_census() as looking:
        kernel, clock, loop, world = looking.kernel, looking.clock, looking.loop, looking.world
        spawned = kernel.spawn(comm="bot")
        facts = looking.processes.look(spawned.pid)
        assert isinstance(facts, ProcessFacts)
        await loop.ask(report(at=clock.now(), anchor=bound(facts.identity)))
        await loop.ask(Judged(facts.identity, unknown("no descriptor is left"), clock.now()))
        (session,) = world.sessions.values()
        assert session.liveness is Liveness.DOUBTED
        if not lives:
            kernel.exit(spawned.pid)
        await looking.census.take()
        (session,) = world.sessions.values()
        assert session.liveness is (Liveness.ALIVE if lives else Liveness.ENDED)
