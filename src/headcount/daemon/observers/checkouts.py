"""Checkouts: which repository and branch each session's directory is in.

Rules
  1. Read when a session begins or moves to another directory, when a turn ends (a branch is switched in turns), and
     for every open session at a start. Never by a timer.
  2. Off the loop, with a limit, by daemon/intake/edited_paths.py; what could not be read in time changes nothing.

Not here: git's files (system/git/repository.py), what is kept of them (core/values/evidence.py).
"""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice

from headcount.core.state.world import World
from headcount.core.values.activity import Doing
from headcount.core.values.events import Event, EventType
from headcount.core.values.evidence import CheckoutSeen
from headcount.core.values.session import Checkout, Session, SessionId
from headcount.daemon.engine.call_observers import OF_SESSIONS, Part
from headcount.daemon.engine.loop import Loop
from headcount.daemon.intake.edited_paths import EditedPaths
from headcount.system.clock import Clock
from headcount.system.git.repository import Repo

AT_ONCE = 50  # directories in one look: all of them share its limit of time

AT_REST = frozenset({Doing.DONE, Doing.FAILED, Doing.IDLE})


class Checkouts(Part):
    wants = OF_SESSIONS

    def __init__(self, loop: Loop, worktrees: EditedPaths, clock: Clock) -> None:
        self._loop = loop
        self._worktrees = worktrees
        self._clock = clock
        self._wanted: dict[SessionId, str] = {}
        self._looking: asyncio.Task[None] | None = None

    def start(self, world: World) -> None:
        self.want(world.open_sessions())

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            if event.session is None:
                continue
            ended_turn = event.type is EventType.SESSION_ACTIVITY and "activity" in event.delta
            if "cwd" not in event.delta and not ended_turn:
                continue
            session = world.sessions.get(event.session)
            if session is not None and ("cwd" in event.delta or session.activity.doing in AT_REST):
                self.want((session,))

    def want(self, sessions: Iterable[Session]) -> None:
        wanted = {each.id: each.cwd for each in sessions if each.is_open and each.cwd is not None}
        self._wanted |= wanted
        if wanted and self._looking is None:
            self._looking = asyncio.create_task(self._look())

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        try:
            while self._wanted:
                await self._look_at(dict(islice(self._wanted.items(), AT_ONCE)))
        finally:
            self._looking = None

    async def _look_at(self, wanted: dict[SessionId, str]) -> None:
        for id in wanted:
            del self._wanted[id]
        repos = await self._worktrees.read_again(wanted.values())
        now = self._clock.now()
        for id, cwd in wanted.items():
            if cwd in repos:
                self._loop.put(CheckoutSeen(id, cwd, checkout_of(repos[cwd]), now))


def checkout_of(repo: Repo | None) -> Checkout | None:
    if repo is None:
        return None
    return Checkout(repo.name, repo.branch, repo.top if repo.is_linked else None)
