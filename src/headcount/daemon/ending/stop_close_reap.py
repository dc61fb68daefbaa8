"""Closing: what `stop`, `close` and `reap` end, and in which order.

Rules
  1. `stop` ends the agent's process and nothing else. `close` ends it first, then what it left, then the window.
  2. Claims fall by the death, never before: an agent that survives keeps them, and nothing else is touched.
  3. Another live process of the conversation, and a process that hosts other living sessions or stands above them,
     is ended only when all were asked for.
  4. `reap` ends processes only. A second writer is an agent: `stop` is for those. Panes, worktrees and files are
     never ended or deleted here. A dry run stores nothing.
  5. Once the agent was signalled nothing that fails is told as if nothing had been done.

Not here: the signal and its audit (signal_process.py), windows (terminals).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct, field

from headcount.core.values.evidence import Judged, SignalAnnounced
from headcount.core.values.leftover import Left, Leftover, LeftoverKind
from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.session import Session
from headcount.core.values.verdict import Proof, Standing, Verdict, dead
from headcount.daemon.ending.signal_process import REFUSED, EndTarget, ProcessEnder, Result, Wish
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.daemon.identity.caller_ancestry import hosted_by
from headcount.daemon.leftovers.descendants import Descendants
from headcount.daemon.leftovers.protected_processes import lifelines
from headcount.daemon.leftovers.search import LeftoverSearch
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes


class Windows(Protocol):
    async def close_window(self, session: Session, wish: Wish, *, anyway: bool) -> str | None:
        """Closes the window that headcount opened for it, or, with `anyway`, the one it is in. What was done, in
        words; None: nothing."""
        ...


class CloseResult(Struct):
    session: Session
    results: list[Result] = field(default_factory=list)
    others: list[Session] = field(default_factory=list)  # alive in the same conversation, and left alone
    window: str | None = None
    is_closed: bool = False


class StopCloseReap:
    def __init__(
        self,
        endings: ProcessEnder,
        descendants: Descendants,
        search: LeftoverSearch,
        processes: Processes,
        loop: Loop,
        clock: Clock,
        judged: Callable[[ProcessIdentity, Verdict], Judged],
        windows: Windows | None = None,
    ) -> None:
        self._endings = endings
        self._descendants = descendants
        self._search = search
        self._processes = processes
        self._loop = loop
        self._clock = clock
        self._judged = judged
        self._windows = windows

    async def stop(self, session: Session, wish: Wish) -> Result:
        """Of a session with a process."""
        assert session.process is not None
        await self._descendants.look(session.process)  # while it can be asked what runs below it
        (result,) = await self._endings.end([_agent(session)], wish)
        if result.is_over:
            await self._believe_death(session.process)
        return result

    async def close(
        self, session: Session, others: Sequence[Session], wish: Wish, *, all: bool, window: bool
    ) -> CloseResult:
        """`others`: of its conversation, as they were when it was looked whether all of them may be ended."""
        closed = CloseResult(session)
        for each in [session, *(others if all else ())]:
            if each.is_open and each.process is not None:
                result = await self.stop(each, wish)
                closed.results.append(result)
                if not result.is_over:
                    return closed
        closed.others = [] if all else list(others)
        for each in [session, *(others if all else ())]:
            await self.refresh(self._loop.world.remains.of_session(each.id))
            left = self.processes_left_by(each)
            try:
                closed.results += await self._endings.end(left, wish)
            except NotStored as fault:
                closed.results += [
                    Result(target, REFUSED, f"nothing can be stored: {fault}") for target in left
                ]
                return closed
        if self._windows is not None:
            closed.window = await self._windows.close_window(session, wish, anyway=window)
        closed.is_closed = True
        facts = wish.facts | {"outcome": "closed", "window": closed.window}
        await self._loop.keep(
            SignalAnnounced(self._clock.now(), session.id, facts, finished=True, archived=True)
        )
        return closed

    async def reap(self, leftovers: Sequence[Leftover], wish: Wish) -> list[Result]:
        targets = [_leftover(each) for each in leftovers if each.kind is LeftoverKind.PROCESS]
        return await self._endings.end(targets, wish)

    async def try_reap(
        self, leftovers: Sequence[Leftover], wish: Wish, *, with_children: bool
    ) -> list[Result]:
        """What `reap` would do. What leftovers have started since is looked for, and not stored."""
        targets = [_leftover(each) for each in leftovers if each.kind is LeftoverKind.PROCESS]
        known = {each.process for each in self._loop.world.remains.there()}
        for left in await self._started_since(leftovers) if with_children else ():
            for find in left.found:
                if find.process is not None and find.process not in known:
                    known.add(find.process)
                    targets.append(EndTarget(find.process, find.what, left.session))
        return await self._endings.try_out(targets, wish)

    async def refresh(self, leftovers: Iterable[Leftover]) -> None:
        """Adds what leftovers have started since they were found: ending a parent must not hide its child."""
        for left in await self._started_since(leftovers):
            await self._loop.keep(left)

    async def _started_since(self, leftovers: Iterable[Leftover]) -> list[Left]:
        now, found = self._clock.now(), []
        for each in [each for each in leftovers if each.kind is LeftoverKind.PROCESS and each.is_there]:
            assert each.process is not None
            found.append(Left(each.session, await self._descendants.below(each.process), now))
        return [left for left in found if left.found]

    async def goes_with(self, session: Session) -> list[Session]:
        """Other living sessions that are in its process, or run below it."""
        assert session.process is not None
        world = self._loop.world
        beside = [each for each in hosted_by(world, session.process) if each.id != session.id]
        known = await asyncio.to_thread(lifelines, self._processes, list(world.open_sessions()))
        for process, below in known.items():
            if same_process(process, session.process) is Match.SAME:
                beside += below
        return beside

    def processes_left_by(self, session: Session) -> list[EndTarget]:
        left = self._loop.world.remains.of_session(session.id)
        return [_leftover(each) for each in left if each.kind is LeftoverKind.PROCESS and each.is_there]

    def others(self, session: Session) -> list[Session]:
        """Other live sessions of its conversation."""
        if session.conversation is None:
            return []
        world = self._loop.world
        same = (
            world.sessions[id] for id in world.by_conversation.get((session.agent, session.conversation), ())
        )
        return [each for each in same if each.id != session.id and each.is_open and each.process is not None]

    async def _believe_death(self, process: ProcessIdentity) -> None:
        """Its death is believed, and what it left was searched for, before anybody is told of it."""
        world = self._loop.world
        verdict = self._processes.prove(process, world.machine_of(process.boot))
        if verdict.standing is not Standing.DEAD:
            verdict = dead(Proof.EXITED, "its handle reported the exit")
        await self._loop.keep(self._judged(process, verdict))
        await self._search.searched(process)


def _agent(session: Session) -> EndTarget:
    assert session.process is not None
    return EndTarget(session.process, session.name or session.agent, session.id)


def _leftover(leftover: Leftover) -> EndTarget:
    assert leftover.process is not None
    return EndTarget(leftover.process, leftover.what, leftover.session, leftover.id)
