"""The aftermath of a death: its pane, its worktree and its record are looked for, and then it is told as one line.

Rules
  1. Off the loop, with deadlines, and no thread that hangs keeps the daemon from ending; all that died meanwhile in one go. A death is told before any of this.
  2. Looked for once, at the end of a session and at a start; looked at again only when somebody asks for leftovers.
  3. What could not be looked for is not found and not gone.
  4. Nothing is deleted, closed or signalled here.

Not here: processes (search.py), what a find changes (core/leftovers/lifecycle.py), the words of the line (present/event_lines.py).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TypeVar

from headcount.agents.catalog import AGENTS
from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.leftovers.attribution import is_dead
from headcount.core.state.world import World
from headcount.core.values.claim import Claim, Freed
from headcount.core.values.events import Event, EventType
from headcount.core.values.evidence import Evidence, Examined
from headcount.core.values.leftover import Find, Left, Leftover, LeftoverGone, LeftoverId, LeftoverKind
from headcount.core.values.session import Session, SessionId
from headcount.core.values.terminal import TMUX
from headcount.daemon.config import Config
from headcount.daemon.engine.call_observers import Part
from headcount.daemon.engine.loop import Loop
from headcount.daemon.intake.registries import Registries
from headcount.daemon.leftovers import panes, records, worktrees
from headcount.daemon.leftovers.panes import Soon
from headcount.daemon.leftovers.search import LeftoverSearch, calm
from headcount.daemon.observers.terminals import Terminals
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes
from headcount.times import AFTERMATH_WITHIN, LEFTOVERS_FRESH, LEFTOVERS_WAITED_FOR, PANE_SETTLES

log = logging.getLogger("headcount.aftermath")

Finds = dict[SessionId | None, list[Find]]
Work = Callable[[], Coroutine[object, object, None]]
T = TypeVar("T")


class LeftoverCollector(Part):
    wants = frozenset({EventType.SESSION_ENDED, EventType.CLAIM_RELEASED})

    def __init__(
        self,
        loop: Loop,
        processes: Processes,
        clock: Clock,
        config: Config,
        terminals: Terminals,
        registries: Registries,
        search: LeftoverSearch,
        looks: BoundedThreads,
    ) -> None:
        self._loop = loop
        self._processes = processes
        self._clock = clock
        self._config = config
        self._terminals = terminals
        self._registries = registries
        self._search = search
        self._looks = looks
        self._dead: dict[SessionId, tuple[str, ...]] = {}  # to be examined: what their deaths freed
        self._running: asyncio.Task[None] | None = None
        self._looked_at: float | None = None

    # --- when ----------------------------------------------------------------------------------------

    def noticed(self, events: Sequence[Event], world: World) -> None:
        fallen = _fallen(events)
        for event in events:
            session = world.sessions.get(event.session) if event.session else None
            if event.type is EventType.SESSION_ENDED and session is not None and is_dead(session):
                self._dead[session.id] = _freed_by(session, fallen)
        if self._dead:
            self._go_on(self._examine_all)

    def start(self, world: World) -> None:
        """Once, after what was remembered is proved: records and windows that nobody owns."""
        self._go_on(self._look_again)

    async def be_fresh(self) -> None:
        """Returns at once when all was looked at a moment ago, else after a look, but not much later."""
        now = self._clock.boottime()
        if self._looked_at is not None and now - self._looked_at < LEFTOVERS_FRESH:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEFTOVERS_WAITED_FOR):
                while self._running is not None and not self._running.done():
                    await asyncio.wait([self._running])
                self._go_on(self._look_again)
                if self._running is not None:
                    await asyncio.wait([self._running])

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _go_on(self, work: Work) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run(work))

    async def _run(self, work: Work) -> None:
        try:
            await calm(lambda: len(self._dead))
            await work()
            while self._dead:
                await self._examine_all()
        except Late:
            log.warning("what was left could not be looked at in time")
        except Exception:
            log.exception("what was left could not be looked for")
            self._loop.counts["bugs"] += 1

    # --- after a death -------------------------------------------------------------------------------

    async def _examine_all(self) -> None:
        dead, self._dead = self._dead, {}
        world = self._loop.world
        sessions = [world.sessions[id] for id in dead if id in world.sessions]
        finds: Finds = {each.id: [] for each in sessions}
        for id, found in (
            *(await worktrees.left_by(self._looks, sessions, await self._busy())).items(),
            *await self._in_time(partial(self._records_of, sessions)),
            *await self._panes_of(sessions),
        ):
            finds[id].append(found)
        processes = (each.process for each in sessions if each.process is not None)
        await asyncio.gather(*map(self._search.searched, processes))
        now = self._clock.now()
        told: list[Evidence] = [Left(id, tuple(each), now) for id, each in finds.items() if each]
        told += [Examined(each.id, now, dead[each.id], _is_resumable(each)) for each in sessions]
        await self._tell(told)

    async def _in_time(self, look: Callable[[], list[T]]) -> list[T]:
        """What hangs finds nothing, and the rest is told without it."""
        try:
            return await self._looks.ask(look, AFTERMATH_WITHIN)
        except Late:
            return []

    def _records_of(self, sessions: list[Session]) -> list[tuple[SessionId, Find]]:
        ended = {(each.process.pid, each.process.started): each.id for each in sessions if each.process}
        pids = {pid for pid, _ in ended}
        return [
            (ended[entry.pid, entry.started], find)
            for entry, find in records.stale(self._registries.places(), self._processes, pids)
            if (entry.pid, entry.started) in ended
        ]

    async def _panes_of(self, sessions: list[Session]) -> list[tuple[SessionId, Find]]:
        """A pane whose own process was the agent is closed by tmux a moment later; it is looked at twice."""
        found: list[tuple[SessionId, Find]] = []
        asked = [each for each in sessions if each.where is not None and each.where.program == TMUX]
        for last in (False, True):
            if not asked:
                break
            taken = panes.taken_by(self._loop.world.open_sessions())
            said = await self._in_time(partial(self._ask_panes, asked, set(taken)))
            found += [(each.id, find) for each, find in said if isinstance(find, Find)]
            asked = [each for each, find in said if find is Soon.SETTLING]
            if asked and not last:
                await asyncio.sleep(PANE_SETTLES)
        return found

    def _ask_panes(
        self, sessions: list[Session], taken: set[str]
    ) -> list[tuple[Session, Find | Soon | None]]:
        sockets = {each.where.socket for each in sessions if each.where and each.where.socket}
        seen = panes.seen_in(self._terminals.servers(sockets))
        return [(each, panes.left_by(each, seen, taken)) for each in sessions]

    # --- when somebody asks --------------------------------------------------------------------------

    async def _look_again(self) -> None:
        world = self._loop.world
        known = [
            each
            for each in world.remains.there()
            if each.kind in (LeftoverKind.PANE, LeftoverKind.WORKTREE, LeftoverKind.RECORD)
        ]
        taken = panes.taken_by(world.open_sessions())
        trees = [each for each in known if each.kind is LeftoverKind.WORKTREE]
        verdicts = await worktrees.now(self._looks, trees, await self._busy())
        look = partial(self._look_at, known, verdicts, taken)
        finds, stale, gone = await self._looks.ask(look, AFTERMATH_WITHIN)
        for entry, find in stale:
            owner = records.owner_of(entry, world)
            finds.setdefault(owner.id if owner else None, []).append(find)
        now = self._clock.now()
        told: list[Evidence] = [LeftoverGone(tuple(ids), now, because) for because, ids in gone.items()]
        told += [Left(id, tuple(found), now) for id, found in finds.items()]
        await self._tell(told)
        self._looked_at = self._clock.boottime()

    def _look_at(
        self,
        known: list[Leftover],
        trees: dict[LeftoverId, str | Find | None],
        taken: dict[str, Session],
    ) -> tuple[Finds, list[records.Stale], dict[str, list[LeftoverId]]]:
        finds: Finds = {}
        gone: dict[str, list[LeftoverId]] = {}
        servers = self._terminals.servers(
            str(each.facts["socket"]) for each in known if "socket" in each.facts
        )
        nobodys = panes.owned_by_nobody(
            servers, self._config.tmux_sessions, self._config.tmux_reserved_windows, taken
        )
        if nobodys:
            finds[None] = list(nobodys)
        for id, find in panes.bound_to_nothing(taken.values(), panes.seen_in(servers), self._clock.now()):
            finds.setdefault(id, []).append(find)
        stale = records.stale(self._registries.places(), self._processes)
        for leftover in known:
            verdict = self._verdict(leftover, trees, servers, taken, {find.key for find in nobodys})
            if isinstance(verdict, str):
                gone.setdefault(verdict, []).append(leftover.id)
            elif verdict is not None:
                finds.setdefault(leftover.session, []).append(verdict)
        return finds, stale, gone

    def _verdict(
        self,
        leftover: Leftover,
        trees: dict[LeftoverId, str | Find | None],
        servers: panes.Servers,
        taken: dict[str, Session],
        nobodys: set[str],
    ) -> str | Find | None:
        if leftover.kind is LeftoverKind.PANE:
            return panes.why_gone(leftover, servers, taken, nobodys)
        if leftover.kind is LeftoverKind.WORKTREE:
            return trees.get(leftover.id)
        return records.why_gone(leftover)

    # --- both ----------------------------------------------------------------------------------------

    async def _busy(self) -> set[str]:
        """The checkouts in which open sessions are."""
        where = [each.cwd for each in self._loop.world.open_sessions()]
        return set((await worktrees.tops_of(self._looks, where)).values())

    async def _tell(self, told: list[Evidence]) -> None:
        answers = [self._loop.submit(each) for each in told]
        await asyncio.gather(*answers, return_exceptions=True)  # not stored now: looked for when asked


def _fallen(events: Sequence[Event]) -> list[Claim]:
    """The claims that deaths ended: they are in the same breath."""
    return [
        event.claim
        for event in events
        if event.type is EventType.CLAIM_RELEASED
        and event.facts.get("because") == Freed.DIED.value
        and event.claim is not None
    ]


def _freed_by(session: Session, fallen: list[Claim]) -> tuple[str, ...]:
    return tuple(claim.item for claim in fallen if claim.is_held_by(session.process))


def _is_resumable(session: Session) -> bool:
    agent = AGENTS.get(session.agent)
    return (
        agent is not None
        and session.conversation is not None
        and agent.resume(session.conversation) is not None
    )
