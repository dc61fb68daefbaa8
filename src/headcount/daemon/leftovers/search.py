"""Search all environments for the marks of dead sessions, to find the processes that they left.

Rules
  1. A search runs in a thread, once for all deaths since the last one: never on the loop, never by a timer.
     The search and waiting for it both have a time limit.
  2. Before marks count, they are read again from the verified process. When the process started decides whose
     they are (core/leftovers/attribution.py), or the file of a token, which names one process.
  3. Nobody's leftovers are: an agent, its helper, a process below or above a live agent, and a process in a
     terminal that people use. Numbers of another pid namespace are not interpreted.
  4. A search that fails says nothing about anybody. Its sessions stay unsearched until the next death or
     start.
  5. At a start, once a census has said who is alive, one search covers all sessions that ended in this boot,
     and processes that carry the marks of an ended agent that nobody remembers. Each is reported once.
  6. In a storm of deaths the deaths are reported first. The search waits until no more come in, but not long.

Not here: the tree below a live agent (daemon/leftovers/descendants.py), what follows from a find
  (core/leftovers/lifecycle.py).
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import chain

from headcount.agents.catalog import AGENTS
from headcount.agents.kit.programs import LAUNCHED, MARKS, NAMES
from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.leftovers.attribution import LAUNCH, Carried, Known, by_mark, is_dead, lives, whose
from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType
from headcount.core.values.leftover import Find, Left, LeftoverKind, process_key
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.session import Session, SessionId
from headcount.daemon.engine.call_observers import Part
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.reporting_process import parse_pid
from headcount.daemon.leftovers.process_label import called
from headcount.daemon.leftovers.protected_processes import is_terminal, stands_above_one
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import above
from headcount.system.processes.boot_and_namespace import namespace_of
from headcount.system.processes.interface import Processes, ProcessGone
from headcount.system.processes.procfs import TICKS
from headcount.times import CALM_AFTER, CALM_ROUNDS, SEARCH_WAITED_FOR, SEARCH_WITHIN

log = logging.getLogger("headcount.search")

NOBODY: SessionId | None = None

Finds = dict[SessionId | None, list[Find]]
Ends = dict[ProcessIdentity, int]
Tokens = Mapping[str, ProcessIdentity]


async def calm(count: Callable[[], int]) -> None:
    """Returns once the count has stood still for a moment, or has not for too long."""
    for _ in range(CALM_ROUNDS):
        before = count()
        await asyncio.sleep(CALM_AFTER)
        if count() <= before:
            return


class LeftoverSearch(Part):
    wants = frozenset({EventType.SESSION_ENDED})

    def __init__(
        self,
        loop: Loop,
        processes: Processes,
        clock: Clock,
        looks: BoundedThreads,
        tokens: Callable[[], Tokens],
        namespace: Callable[[int], int | None] = namespace_of,
    ) -> None:
        self._namespace = namespace
        self._loop = loop
        self._processes = processes
        self._clock = clock
        self._looks = looks
        self._tokens = tokens  # files of tokens that were given, also of those that are over
        self._uid = os.getuid()
        self._ended: Ends = {}  # when each was seen to end, in ticks since boot
        self._wanted: dict[ProcessIdentity, SessionId] = {}
        self._failed: dict[ProcessIdentity, SessionId] = {}
        self._waiting: dict[ProcessIdentity, list[asyncio.Future[None]]] = {}
        self._strangers = False  # to be looked for by the next search
        self._missed = False  # they were looked for, and that failed
        self._running: asyncio.Task[None] | None = None

    # --- on the loop ---------------------------------------------------------------------------------

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            if event.type is not EventType.SESSION_ENDED or event.session is None:
                continue
            session = world.sessions.get(event.session)
            if session is not None and session.process is not None and is_dead(session):
                self._ended[session.process] = self._now()
                self.want(session.process, session.id)

    def want(self, process: ProcessIdentity, session: SessionId) -> None:
        self._wanted[process] = session
        self._go_on()

    async def searched(self, process: ProcessIdentity) -> None:
        """Returns once what that dead process left was searched for and told, but not much later; at once when
        nobody is at it."""
        if process in self._wanted or (self._running is not None and not self._running.done()):
            done = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(process, []).append(done)
            await asyncio.wait([done], timeout=SEARCH_WAITED_FOR)

    async def start_up(self, census: Callable[[], Awaitable[None]]) -> None:
        """All that is remembered of this boot, and the orphans of those that are not. After a census: who carries the
        marks of an agent that lives is no orphan, also when nobody has told of that agent yet."""
        await census()
        for session in self._loop.world.sessions.values():
            if session.process is not None and is_dead(session):
                self._wanted.setdefault(session.process, session.id)
        self._strangers = True
        self._go_on()

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _go_on(self) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._wanted or self._strangers:
            await calm(lambda: len(self._wanted))
            strangers = self._strangers or self._missed
            self._strangers = self._missed = False
            wanted, self._wanted = {**self._failed, **self._wanted}, {}
            self._failed = {}
            found = await self._find(strangers)
            if found is None:
                self._failed |= wanted  # looked for again with the next death, or the next start
                self._missed = strangers
            self._loop.counts["leftover_searches"] += 1
            await self._tell(wanted, found)
            for process in wanted:
                for waiting in self._waiting.pop(process, ()):
                    if not waiting.done():
                        waiting.set_result(None)
        for waiting in chain.from_iterable(self._waiting.values()):
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    async def _tell(self, wanted: dict[ProcessIdentity, SessionId], found: Finds | None) -> None:
        if found is None:
            return
        now = self._clock.now()
        told = [Left(id, tuple(found.pop(id, ())), now, process) for process, id in wanted.items()]
        told += [Left(id, tuple(finds), now) for id, finds in found.items()]
        answers = await asyncio.gather(*map(self._loop.submit, told), return_exceptions=True)
        for (process, id), answer in zip(wanted.items(), answers, strict=False):
            if isinstance(answer, BaseException):  # not stored now: the next search, or the next start
                self._failed[process] = id

    async def _find(self, strangers: bool) -> Finds | None:
        sessions, seen = list(self._loop.world.sessions.values()), dict(self._ended)
        try:
            look = partial(self._lives, sessions, seen, self._tokens())
            known, ended = await self._looks.ask(look, SEARCH_WITHIN)
            self._ended = ended | {each: at for each, at in self._ended.items() if each not in seen}
            return await self._looks.ask(partial(self._search, known, strangers), SEARCH_WITHIN)
        except Late:
            log.warning("a search for leftovers took too long")
        except Exception:
            log.exception("a search for leftovers failed")
            self._loop.counts["bugs"] += 1
        return None

    def _now(self) -> int:
        return int(self._clock.boottime() * TICKS) + 1

    def _ticks(self, at: float) -> int:
        return int((at - self._clock.now() + self._clock.boottime()) * TICKS)

    # --- in a thread ---------------------------------------------------------------------------------

    def _lives(self, sessions: list[Session], seen: Ends, tokens: Tokens) -> tuple[Known, Ends]:
        ended: Ends = {}
        for session in sessions:
            if session.process is not None and session.ended is not None and is_dead(session):
                at = self._now() if session.ended.away else self._ticks(session.ended.at)
                ended[session.process] = seen.get(session.process, at)
        return by_mark(lives(sessions, self._loop.world.place.boot, ended), tokens), ended

    def _search(self, known: Known, strangers: bool) -> Finds:
        found: Finds = {}
        for pid, carried in self._processes.carriers(NAMES).items():
            marks = _marks(carried)
            if strangers or any((mark.agent, mark.conversation) in known for mark in marks):
                self._weigh(pid, known, strangers, found)
        return found

    def _weigh(self, pid: int, known: Known, strangers: bool, found: Finds) -> None:
        facts = self._processes.look(pid)
        if not isinstance(facts, ProcessFacts) or facts.uid != self._uid or facts.identity.started is None:
            return
        if not self._is_here(pid):
            return
        marks = _marks(self._processes.environ(facts.identity, NAMES))
        life = whose(marks, facts.identity.started, known)
        if life is not None:
            if not self._is_an_agents(facts):
                found.setdefault(life[0].session, []).append(_find(facts, life[1]))
        elif strangers and (mark := self._strange(facts, marks, known)) and not self._is_an_agents(facts):
            found.setdefault(NOBODY, []).append(_find(facts, mark, conversation=mark.conversation))

    def _strange(self, facts: ProcessFacts, marks: list[Carried], known: Known) -> Carried | None:
        """The mark of an agent that is certainly over: nobody has its number now, or only one that came later."""
        for mark in marks:
            if mark.pid is None or (mark.agent, mark.conversation) in known:
                continue
            owner = self._processes.look(mark.pid)
            if isinstance(owner, ProcessGone) or (
                isinstance(owner, ProcessFacts)
                and (owner.identity.started or 0) > (facts.identity.started or 0)
            ):
                return mark
        return None

    def _is_an_agents(self, facts: ProcessFacts) -> bool:
        """It is an agent, a helper, ourselves, or a terminal server, runs below one of those or above an agent: then
        it is not a leftover."""
        if facts.pid == os.getpid():
            return True
        for each in chain((facts,), above(self._processes, facts)):
            if self._is_agent(each) or is_terminal(each):
                return True
        return stands_above_one(self._processes, facts.identity, self._is_agent)

    def _is_agent(self, facts: ProcessFacts) -> bool:
        return AGENTS.is_agents(facts) or self._hosts(facts.identity)

    def _is_here(self, pid: int) -> bool:
        """In our pid namespace: the numbers in its marks are those that we see. Not known is not here."""
        namespace = self._processes.place().namespace
        return namespace == 0 or self._namespace(pid) == namespace

    def _hosts(self, process: ProcessIdentity) -> bool:
        known = self._loop.world.find_process(process)
        return known is not None and same_process(known, process) is Match.SAME


def _marks(carried: dict[str, str]) -> list[Carried]:
    found = []
    for mark in MARKS:
        conversation = carried.get(mark.conversation)
        if not conversation:
            continue
        named = carried.get(mark.pid) if mark.pid is not None else None
        pid = parse_pid(named) if named else None
        if named and pid is None:
            continue  # a pid that is none makes the mark worth nothing (accident I8)
        variables = " and ".join(name for name in (mark.conversation, mark.pid if pid else None) if name)
        found.append(Carried(mark.agent, conversation, pid, variables))
    if token := carried.get(LAUNCHED):
        found.append(Carried(LAUNCH, token, None, LAUNCHED, is_token=True))
    return found


def _find(facts: ProcessFacts, mark: Carried, **more: str) -> Find:
    because = (f"{mark.variables} in its environment",)
    return Find(
        LeftoverKind.PROCESS, process_key(facts.identity), called(facts), because, facts.identity, dict(more)
    )
