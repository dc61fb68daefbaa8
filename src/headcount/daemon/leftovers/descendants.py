"""Descendants: what runs below a living agent, seen while that is certain.

Rules
  1. Looked at shortly after an agent did something, in a thread, and only below that agent. An idle machine is not
     looked at. Agents that are due at about the same time are looked at in one go.
  2. Whoever was seen below an agent stays its descendant when it is re-parented: descent is by birth.
  3. Another agent is a session of its own, and what runs below it is that one's. A helper of an agent and what runs
     below it belong to nobody.
  4. Memory only. What an agent left is told with its death, of those that are proved alive then and above no other
     agent. Terminal servers, and what runs in them, are not a session's (protected_processes.py).

Not here: marks in an environment (search.py), what is made of a find (core/leftovers/lifecycle.py).
"""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from headcount.agents.catalog import AGENTS
from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType
from headcount.core.values.leftover import Find, LeftoverKind, process_key
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Standing
from headcount.daemon.engine.call_observers import Part
from headcount.daemon.leftovers.process_label import called
from headcount.daemon.leftovers.protected_processes import is_in_a_terminal, is_terminal, stands_above_one
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes
from headcount.times import DESCENDANTS_AFTER, DESCENDANTS_EVERY, DESCENDANTS_TOGETHER

log = logging.getLogger("headcount.descendants")

LOOKED_FOR = frozenset({
    EventType.SESSION_STARTED, EventType.SESSION_BOUND, EventType.SESSION_ACTIVITY, EventType.SESSION_CHANGED,
    EventType.SESSION_HEARD,
})  # fmt: skip
LOOKED_AT_TOGETHER = 32  # in one go of the thread: some milliseconds
SEEN_MOST = 256  # of one agent; far more than people find readable

Known = Callable[[ProcessIdentity], ProcessIdentity | None]


class SeenDescendant(Struct, frozen=True):
    at: float
    what: str


Look = tuple[dict[ProcessIdentity, SeenDescendant], set[ProcessIdentity]]


class Descendants(Part):
    wants = LOOKED_FOR

    def __init__(self, processes: Processes, clock: Clock, known: Known, counts: Counter[str]) -> None:
        self._processes = processes
        self._clock = clock
        self._known = known
        self._uid = os.getuid()
        self._seen: dict[ProcessIdentity, dict[ProcessIdentity, SeenDescendant]] = {}
        self._due: dict[ProcessIdentity, float] = {}  # by the event loop's clock
        self._timer: asyncio.TimerHandle | None = None  # one for all of them
        self._looked_at: dict[ProcessIdentity, float] = {}  # by the event loop's clock
        self._looking: set[asyncio.Task[None]] = set()
        self._counts = counts

    def start(self, world: World) -> None:
        for session in world.open_sessions():
            if session.process is not None:
                self.want(session.process)

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            if event.type in LOOKED_FOR and event.session is not None:
                session = world.sessions.get(event.session)
                if session is not None and session.is_open and session.process is not None:
                    self.want(session.process)

    def want(self, agent: ProcessIdentity) -> None:
        """Soon, once: the tool that a hook tells of starts a moment later."""
        if agent not in self._due:
            now = asyncio.get_running_loop().time()
            rest = self._looked_at.get(agent, 0.0) + DESCENDANTS_EVERY - now
            self._due[agent] = now + max(DESCENDANTS_AFTER, rest)
            self._set_timer(self._due[agent])

    async def look(self, agent: ProcessIdentity) -> None:
        """Now, and done when it returns."""
        await self._look_at([agent])

    async def below(self, left: ProcessIdentity) -> tuple[Find, ...]:
        """What a leftover has started since: its children are its session's too."""
        seen = await asyncio.to_thread(self._below_left, left)
        because = (f"child of {left.pid}, which was left",)
        return tuple(
            Find(LeftoverKind.PROCESS, process_key(each), known.what, because, each)
            for each, known in seen.items()
        )

    def take(self, agent: ProcessIdentity) -> tuple[Find, ...]:
        """It died: those of its descendants that are proved alive now. Some microseconds each."""
        self._due.pop(agent, None)
        self._looked_at.pop(agent, None)
        seen = self._seen.pop(agent, {})
        return tuple(_find(each, seen[each]) for each in seen if self._lives(each) and self._is_free(each))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._looking:
            task.cancel()

    def _set_timer(self, at: float) -> None:
        if self._timer is None or at < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_at(at, self._start)

    def _start(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        agents = [each for each, at in self._due.items() if at <= now + DESCENDANTS_TOGETHER]
        for each in agents:
            del self._due[each]
            self._looked_at[each] = now
        if self._due:
            self._set_timer(min(self._due.values()))
        task = asyncio.create_task(self._look_safely(agents))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _look_safely(self, agents: list[ProcessIdentity]) -> None:
        try:
            for first in range(0, len(agents), LOOKED_AT_TOGETHER):
                some = agents[first : first + LOOKED_AT_TOGETHER]
                await self._look_at([each for each in some if each in self._looked_at])  # not dead meanwhile
        except Exception:
            log.exception("what runs below agents could not be looked at")

    async def _look_at(self, agents: list[ProcessIdentity]) -> None:
        known = {agent: tuple(self._seen.get(agent, ())) for agent in agents}
        looks = await asyncio.to_thread(self._below_all, known)
        for agent, (seen, gone) in looks.items():
            if not self._lives(agent):  # its death has taken what was known; marks tell of the rest
                self._seen.pop(agent, None)
                continue
            before = self._seen.get(agent, {})
            kept = {each: before[each] for each in before if each not in gone}
            self._seen[agent] = dict(list({**seen, **kept}.items())[-SEEN_MOST:])
            self._counts["descendant_looks"] += 1

    # --- in a thread ---------------------------------------------------------------------------------

    def _below_all(
        self, known: Mapping[ProcessIdentity, tuple[ProcessIdentity, ...]]
    ) -> dict[ProcessIdentity, Look]:
        """Below each agent: who runs there, and who of those that were known is gone."""
        looks: dict[ProcessIdentity, Look] = {}
        for agent, before in known.items():
            seen = self._below(agent)
            looks[agent] = seen, self._gone([each for each in before if each not in seen])
        return looks

    def _below(self, agent: ProcessIdentity) -> dict[ProcessIdentity, SeenDescendant]:
        now = self._clock.now()
        found: dict[ProcessIdentity, SeenDescendant] = {}
        todo = [agent]
        while todo and len(found) < SEEN_MOST:
            above = todo.pop()
            for pid in self._processes.children(above):
                facts = self._processes.look(pid)
                if isinstance(facts, ProcessFacts) and facts.parent == above.pid and self._is_mere(facts):
                    found[facts.identity] = SeenDescendant(now, called(facts))
                    todo.append(facts.identity)
        return found

    def _below_left(self, left: ProcessIdentity) -> dict[ProcessIdentity, SeenDescendant]:
        if is_in_a_terminal(self._processes, left):
            return {}
        return {each: seen for each, seen in self._below(left).items() if self._is_free(each)}

    def _is_free(self, process: ProcessIdentity) -> bool:
        return not stands_above_one(self._processes, process, self._is_agents)

    def _is_mere(self, facts: ProcessFacts) -> bool:
        """Ours to list: of our user, no agent, no agent's helper, no terminal server."""
        return facts.uid == self._uid and not self._is_agents(facts) and not is_terminal(facts)

    def _is_agents(self, facts: ProcessFacts) -> bool:
        return AGENTS.is_agents(facts) or self._known(facts.identity) is not None

    def _gone(self, identities: list[ProcessIdentity]) -> set[ProcessIdentity]:
        return {each for each in identities if not self._lives(each)}

    def _lives(self, identity: ProcessIdentity) -> bool:
        verdict = self._processes.prove(identity, self._processes.place().machine)
        return verdict.standing is Standing.ALIVE


def _find(process: ProcessIdentity, seen: SeenDescendant) -> Find:
    when = time.strftime("%H:%M", time.localtime(seen.at))
    return Find(LeftoverKind.PROCESS, process_key(process), seen.what, (f"child seen {when}",), process)
