"""The census: a slow look at all processes, for agents that nobody told of.

Rules
  1. It adds, it never subtracts: who is missing from a census is not asked about here. Whoever was in doubt is
     asked once more: an adapter tells of an end by itself, but not that a doubt is over.
  2. It runs beside the loop, at the start, seldom, after a hint, and when somebody asks who is there.
  3. One that fails says nothing about anybody, and one adapter that fails or hangs nothing about the others'.
  4. Whom the kernel watches for us is not looked at: its number is its own until its end is told. A thousand idle
     sessions cost a census next to nothing.
  5. What it finds by itself, neither at the start nor after a hint, the event path should have told: it is counted.

Not here: how agents are recognised (agents/), what their processes have open (open_conversations.py).
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Agent
from headcount.agents.plugin_guard import unguarded
from headcount.core.values.evidence import ConversationClosed, Judged
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.report import Found, Record
from headcount.core.values.session import Liveness
from headcount.core.values.verdict import Verdict
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.open_conversations import OpenConversations
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes
from headcount.system.processes.procfs import TICKS
from headcount.times import CENSUS_EVERY, CENSUS_FRESH, CENSUS_SETTLES, CENSUS_WAITED_FOR

log = logging.getLogger("headcount.census")


class CensusSighting(Struct, frozen=True):
    """A process that was looked at, and the glance by which it is known again."""

    facts: ProcessFacts
    glance: object | None


class AgentProcess(Struct, frozen=True):
    """A process of an agent: a session by itself, or one that may have conversations open."""

    agent: Agent
    sight: CensusSighting
    is_session: bool


class Census:
    def __init__(
        self,
        loop: Loop,
        processes: Processes,
        anchors: Anchors,
        clock: Clock,
        adapters: Adapters,
        hosting: OpenConversations,
        agents: Mapping[str, Agent] = AGENTS,
        judged: Callable[[ProcessIdentity, Verdict], Judged] | None = None,
    ) -> None:
        self._loop = loop
        self._processes = processes
        self._anchors = anchors
        self._clock = clock
        self._adapters = adapters
        self._hosting = hosting
        self._agents = agents
        self._judged = judged or (lambda process, verdict: Judged(process, verdict, clock.now()))
        self._uid = os.getuid()
        self._taken_at: float | None = None
        self._passed: dict[int, object] = {}  # pid: glance of those that are no agent's
        self._members: dict[int, AgentProcess] = {}  # those that are
        self._running: asyncio.Task[None] | None = None
        self._ahead: asyncio.Future[list[CensusSighting]] | None = None
        self._again = False

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
            self._running = asyncio.create_task(self._take(is_net=True))
        await asyncio.shield(self._running)

    def hinted(self) -> None:
        """Something changed in an agent's directory. One that runs already may have looked too early."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._take(is_net=False))
        elif not self._again:
            self._again = True
            self._running.add_done_callback(self._once_more)

    def _once_more(self, _: "asyncio.Task[None]") -> None:
        self._again = False
        self.hinted()

    async def _take(self, *, is_net: bool) -> None:
        try:
            ahead, self._ahead = self._ahead, None
            await self._sort(await (ahead or asyncio.to_thread(self._look_at_all)))
            news = await self._hosted()
            named = {each.anchor.process for each in news if isinstance(each, Record)}
            unknown = [
                each
                for each in self._members.values()
                if each.is_session
                and not self._processes.is_told(each.sight.facts.identity)
                and each.sight.facts.identity not in named
                and not self._is_known(each.sight.facts.identity)
            ]
            found = await asyncio.to_thread(self._describe, unknown) if unknown else []
            spaces = self._hosting.spaces
            found = [replace(each, cwd=await spaces.cwd_of(each.process, each.cwd)) for each in found]
        except OSError as error:  # no descriptor left: who could not be looked for is not missing (D5)
            log.warning("a census could not be taken: %s", error.strerror)
            return
        except Exception:  # a bug of ours; the event path goes on, and the next census may succeed
            log.exception("a census failed")
            self._loop.counts["bugs"] += 1
            return
        if is_net and self._taken_at is not None:
            self._loop.counts["census_caught"] += len(found) + len(news)  # what the event path missed
        self._taken_at = self._clock.boottime()
        told: list[Found | Record | ConversationClosed] = [*found, *news]
        answers = [self._loop.submit(each) for each in told]
        answers += [asyncio.ensure_future(self._loop.keep(each)) for each in self._asked_again()]
        await asyncio.gather(
            *answers, return_exceptions=True
        )  # not stored now: the next one finds them again

    async def _sort(self, seen: list[CensusSighting]) -> None:
        """Whose each of them is. Only who was denied by every adapter is not looked at again."""
        rest = {each.facts.pid: each for each in seen}
        all_answered = True
        for agent in self._agents.values():
            if not rest:
                break
            work = partial(self._own, unguarded(agent), tuple(rest.values()))
            mine = await self._adapters.ask(agent.name, work)
            all_answered = all_answered and mine is not None
            for member in mine or ():
                self._members[member.sight.facts.pid] = member
                del rest[member.sight.facts.pid]
        if all_answered:
            self._passed.update({pid: each.glance for pid, each in rest.items()})

    def _own(self, agent: Agent, seen: tuple[CensusSighting, ...]) -> list[AgentProcess]:
        asked = self._hosting.is_asked(agent.name)
        found = []
        for each in seen:
            if agent.recognise(each.facts):
                found.append(AgentProcess(self._agents[agent.name], each, True))
            elif asked and agent.is_helper(each.facts):
                found.append(AgentProcess(self._agents[agent.name], each, False))
        return found

    async def _hosted(self) -> list[Record | ConversationClosed]:
        asked = {name: agent for name, agent in self._agents.items() if self._hosting.is_asked(name)}
        mine: dict[str, list[ProcessFacts]] = {name: [] for name in asked}
        for each in self._members.values():
            if each.agent.name in mine:
                mine[each.agent.name].append(each.sight.facts)
        news: list[Record | ConversationClosed] = []
        for name, processes in mine.items():
            if processes:
                news += await self._hosting.ask(asked[name], processes)
        self._hosting.forget_all_but({facts.identity for processes in mine.values() for facts in processes})
        return news

    def ask_again(self, process: ProcessIdentity) -> Judged:
        """A death goes the one way of all deaths (engine/deaths.py)."""
        verdict = self._processes.prove(process, self._loop.world.machine_of(process.boot))
        return self._judged(process, verdict)

    def _asked_again(self) -> list[Judged]:
        doubted = (each for each in self._loop.world.open_sessions() if each.liveness is Liveness.DOUBTED)
        return [self.ask_again(each.process) for each in doubted if each.process is not None]

    def _look_at_all(self) -> list[CensusSighting]:
        """All that were not looked at before, or run another program now, parents before their children."""
        passed: dict[int, object] = {}
        members: dict[int, AgentProcess] = {}
        seen = []
        for pid in self._processes.pids():
            member = self._members.get(pid)
            if member is not None and self._processes.is_told(member.sight.facts.identity):
                members[pid] = member
                continue
            glance = self._processes.glance(pid)
            if glance is not None and self._passed.get(pid) == glance:
                passed[pid] = glance
                continue
            if glance is not None and member is not None and member.sight.glance == glance:
                members[pid] = member
                continue
            facts = self._processes.look(pid)
            if isinstance(facts, ProcessFacts) and facts.uid == self._uid and not self._is_fresh(facts):
                seen.append(CensusSighting(facts, glance))
        self._passed, self._members = passed, members
        return sorted(seen, key=lambda each: each.facts.identity.started or 0)

    def _describe(self, unknown: list[AgentProcess]) -> list[Found]:
        now = self._clock.now()
        return [
            Found(
                each.agent.name,
                each.sight.facts.identity,
                now,
                each.sight.facts.cwd,
                self._anchors.agent_above(each.sight.facts),
                self._anchors.began_at(each.sight.facts.identity),
            )
            for each in unknown
        ]

    def _is_fresh(self, facts: ProcessFacts) -> bool:
        """An agent that starts a program is, between fork and exec, two processes that look alike."""
        started = facts.identity.started
        return started is not None and self._clock.boottime() - started / TICKS < CENSUS_SETTLES

    def _is_known(self, process: ProcessIdentity) -> bool:
        return self._loop.world.find_process(process) is not None
