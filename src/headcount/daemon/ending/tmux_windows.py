"""Windows: closing the one that headcount opened for a session, or the one that somebody said.

Rules
  1. Unasked only a pane that was opened for the session and in which nothing runs any more is closed: tmux hangs up
     on what runs in a pane, and that was not verified (G5).
  2. Asked for by name the whole window goes, unless a living session, the caller or headcount itself runs in it: by
     the kernel's word on who is above them, not by where they were last seen.
  3. The pane is looked up in the very server that the session was found in. Doubt closes nothing.
  4. The intent is stored before tmux is told, and everything is looked at again after that.

Not here: ending the agent first (stop_close_reap.py).
"""

import asyncio
import os
from collections.abc import Sequence

from msgspec import Struct

from headcount.core.values.evidence import SignalAnnounced
from headcount.core.values.session import Session
from headcount.core.values.terminal import TMUX, Pane
from headcount.daemon.ending.signal_process import UNSEEN, Wish
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.daemon.leftovers.panes import key_of, taken_by
from headcount.daemon.leftovers.protected_processes import lifelines
from headcount.system import tmux
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.interface import Processes


class WindowClosing(Struct, frozen=True):
    """What may be closed."""

    pane: Pane
    whole: bool  # its window, with all its panes

    @property
    def name(self) -> str:
        return f"window {self.pane.session}:{self.pane.window_index}" if self.whole else self.pane.text

    def carry_out(self) -> bool:
        return tmux.close_window(self.pane) if self.whole else tmux.close_pane(self.pane)


class TmuxWindows:
    def __init__(self, loop: Loop, processes: Processes, clock: Clock) -> None:
        self._loop = loop
        self._processes = processes
        self._clock = clock

    async def close_window(self, session: Session, wish: Wish, *, anyway: bool) -> str | None:
        """What was done, in words; None: there is nothing to close, or it was not asked for."""
        is_ours = session.registration is not None and session.registration.window
        if session.where is None or session.where.program != TMUX or not (is_ours or anyway):
            return None
        plan = await self._look(session, wish, anyway)
        if isinstance(plan, str):
            return plan
        facts = _facts(plan, wish)
        try:
            await self._loop.ask(SignalAnnounced(self._clock.now(), session.id, facts | {"signal": "SIGHUP"}))
        except NotStored as fault:
            return f"{plan.name} was left open: {fault}"
        plan = await self._look(session, wish, anyway)
        if isinstance(plan, str):
            told, outcome = plan, "refused"
        elif await asyncio.to_thread(plan.carry_out):
            told, outcome = f"{plan.name} closed", "exited"
        else:
            told, outcome = f"{plan.name} could not be closed", "survived"
        facts |= {"outcome": outcome, "because": told}
        await self._loop.keep(SignalAnnounced(self._clock.now(), session.id, facts, finished=True))
        return told

    async def _look(self, session: Session, wish: Wish, anyway: bool) -> WindowClosing | str:
        living = list(self._loop.world.open_sessions())
        return await asyncio.to_thread(self._plan, session, living, wish, anyway)

    # --- in a thread ---------------------------------------------------------------------------------

    def _plan(
        self, session: Session, living: Sequence[Session], wish: Wish, anyway: bool
    ) -> WindowClosing | str:
        """What may be closed, or what is left, in words."""
        where = session.where
        assert where is not None
        panes = tmux.list_panes(where.socket or "")
        if isinstance(panes, tmux.Unreachable):
            return f"{where.text} was left as it is: tmux cannot be asked"
        pane = (
            next((each for each in panes if each.is_same(where)), None) if isinstance(panes, list) else None
        )
        if pane is None or not isinstance(panes, list):
            return f"{where.text} closed with it"
        if not anyway:
            return _plan_own(pane, session)
        plan = WindowClosing(pane, whole=True)
        beside = [each for each in panes if each.window == pane.window and each.socket == pane.socket]
        why = self._in_use(beside, living, wish)
        return f"{plan.name} was left open: {why}" if why is not None else plan

    def _in_use(self, panes: Sequence[Pane], living: Sequence[Session], wish: Wish) -> str | None:
        """Who would be hung up on; None: nobody that is known."""
        taken, pids = taken_by(living), {pane.pid for pane in panes}
        hosts = [taken[key_of(pane)] for pane in panes if key_of(pane) in taken]
        hosts += [each for each in living if each.process is not None and each.process.pid in pids]
        for process, below in lifelines(self._processes, living).items():
            hosts += below if process.pid in pids else []
        if hosts:
            return f"{hosts[0].id[:4]} is in it too"
        if pids & {process.pid for process in wish.above}:
            return "the caller is in it"
        ours = {facts.pid for facts in ancestors(self._processes, os.getpid())}
        if not ours:
            return UNSEEN
        return "headcount itself is in it" if pids & ours else None


def _plan_own(pane: Pane, session: Session) -> WindowClosing | str:
    was = session.process.pid if session.process else None
    if pane.pid != was:
        return f"{pane.text} was left open: something else runs in it"
    return WindowClosing(pane, whole=False) if pane.dead else f"{pane.text} closes by itself"


def _facts(plan: WindowClosing, wish: Wish) -> dict[str, object]:
    return wish.facts | {"pid": plan.pane.pid, "what": plan.name}
