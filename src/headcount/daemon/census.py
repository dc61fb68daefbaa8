"""The census: a slow look at all processes, for agents that nobody told of.

Rules of this file
  1. It adds, it never subtracts: who is missing from a census is not asked about here. Whoever was in doubt is
     asked once more: an adapter tells of an end by itself, but not that a doubt is over.
  2. It runs in a thread, at the start, seldom, and when somebody asks who is there.
  3. One that fails says nothing about anybody.

Not here: how agents are recognised (agents/).
"""

import asyncio
import contextlib
import logging
import os
from dataclasses import dataclass

from headcount.agents.table import AGENTS
from headcount.core.evidence import Judged
from headcount.core.identity import ProcessFacts, ProcessIdentity
from headcount.core.report import Found
from headcount.core.session import Liveness
from headcount.daemon.anchor import Anchors
from headcount.daemon.loop import Loop
from headcount.system.clock import Clock
from headcount.system.processes.port import Processes
from headcount.times import CENSUS_EVERY, CENSUS_FRESH, CENSUS_SETTLES, CENSUS_WAITED_FOR

TICKS = os.sysconf("SC_CLK_TCK")

log = logging.getLogger("headcount.census")


@dataclass(frozen=True, slots=True)
class Sight:
    """An agent that was looked at, and the glance by which it is known again."""

    agent: str
    facts: ProcessFacts
    glance: object | None


class Census:
    def __init__(self, loop: Loop, processes: Processes, anchors: Anchors, clock: Clock) -> None:
        self._loop = loop
        self._processes = processes
        self._anchors = anchors
        self._clock = clock
        self._uid = os.getuid()
        self._taken_at: float | None = None
        self._passed: dict[int, object] = {}  # pid: glance of those that are no news
        self._running: asyncio.Task[None] | None = None
        self._ahead: asyncio.Future[list[Sight]] | None = None

    def look_ahead(self) -> None:
        """Begins to look while the rest of a start is under way; the first census goes on from there."""
        self._ahead = asyncio.ensure_future(asyncio.to_thread(self._look_at_all))

    async def run(self) -> None:
        while True:
            await self.take()
            await asyncio.sleep(CENSUS_EVERY)

    async def be_fresh(self) -> None:
        """Returns at once when a census was taken a moment ago, else after one, but not much later: on a
        machine that is too busy for a census the answer is what is known."""
        if self._taken_at is None or self._clock.boottime() - self._taken_at > CENSUS_FRESH:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CENSUS_WAITED_FOR):
                    await self.take()

    async def take(self) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._take())
        await asyncio.shield(self._running)

    async def _take(self) -> None:
        try:
            ahead, self._ahead = self._ahead, None
            seen = await (ahead or asyncio.to_thread(self._look_at_all))
            unknown = []
            for sight in seen:
                if self._is_known(sight.facts.identity):
                    self._passed[sight.facts.pid] = sight.glance
                else:
                    unknown.append(sight)
            found = await asyncio.to_thread(self._describe, unknown) if unknown else []
        except OSError as error:  # no descriptor left: who could not be looked for is not missing (D5)
            log.warning("a census could not be taken: %s", error.strerror)
            return
        except Exception:  # a bug of ours; the event path goes on, and the next census may succeed
            log.exception("a census failed")
            self._loop.counts["bugs"] += 1
            return
        if self._taken_at is not None:
            self._loop.counts["census_caught"] += len(found)  # what the event path missed
        self._taken_at = self._clock.boottime()
        told: list[Found | Judged] = [*found, *self._asked_again()]
        answers = [self._loop.submit(each) for each in told]
        await asyncio.gather(
            *answers, return_exceptions=True
        )  # not stored now: the next one finds them again

    def _asked_again(self) -> list[Judged]:
        world, now = self._loop.world, self._clock.now()
        doubted = [each.process for each in world.open_sessions() if each.liveness is Liveness.DOUBTED]
        return [
            Judged(process, self._processes.prove(process, world.machine_of(process.boot)), now)
            for process in doubted
            if process is not None
        ]

    def _look_at_all(self) -> list[Sight]:
        """All that were not looked at before, or run another program now."""
        passed: dict[int, object] = {}
        seen = []
        for pid in self._processes.pids():
            glance = self._processes.glance(pid)
            if glance is not None and self._passed.get(pid) == glance:
                passed[pid] = glance
                continue
            facts = self._processes.look(pid)
            if not isinstance(facts, ProcessFacts) or facts.uid != self._uid or self._is_fresh(facts):
                continue
            agent = next((each for each in AGENTS.values() if each.recognise(facts)), None)
            if agent is not None:
                seen.append(Sight(agent.name, facts, glance))
            else:
                passed[pid] = glance
        self._passed = passed
        return sorted(
            seen, key=lambda each: each.facts.identity.started or 0
        )  # parents before their children

    def _describe(self, unknown: list[Sight]) -> list[Found]:
        now = self._clock.now()
        return [
            Found(
                each.agent,
                each.facts.identity,
                now,
                each.facts.cwd,
                self._anchors.agent_above(each.facts),
                self._anchors.began_at(each.facts),
            )
            for each in unknown
        ]

    def _is_fresh(self, facts: ProcessFacts) -> bool:
        """An agent that starts a program is, between fork and exec, two processes that look alike."""
        started = facts.identity.started
        return started is not None and self._clock.boottime() - started / TICKS < CENSUS_SETTLES

    def _is_known(self, process: ProcessIdentity) -> bool:
        return self._loop.world.find_process(process) is not None
