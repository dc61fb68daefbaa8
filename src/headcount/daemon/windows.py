"""Windows: closing the one that headcount opened for a session, or the one that somebody said.

Rules of this file
  1. Unasked only a pane that was opened for the session and in which nothing runs any more is closed: tmux hangs up
     on what runs in a pane, and that was not verified (G5).
  2. Asked for by name the whole window goes, unless another session is in it.
  3. The pane is looked up in the very server that the session was found in. Doubt closes nothing.

Not here: ending the agent first (closing.py).
"""

import asyncio

from headcount.core.session import Session
from headcount.core.where import TMUX, Pane
from headcount.daemon.left_panes import key_of, taken_by
from headcount.daemon.loop import Loop
from headcount.system import tmux


class TmuxWindows:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    async def close_window(self, session: Session, *, anyway: bool) -> str | None:
        """What was done, in words; None: there is nothing to close, or it was not asked for."""
        is_ours = session.registration is not None and session.registration.window
        if session.where is None or session.where.program != TMUX or not (is_ours or anyway):
            return None
        taken = taken_by(self._loop.world.open_sessions())
        return await asyncio.to_thread(_close, session, {key: each.id for key, each in taken.items()}, anyway)


def _close(session: Session, taken: dict[str, str], anyway: bool) -> str | None:
    where = session.where
    assert where is not None
    panes = tmux.list_panes(where.socket or "")
    if isinstance(panes, tmux.Unreachable):
        return f"{where.text} was left as it is: tmux cannot be asked"
    pane = next((each for each in panes if each.is_same(where)), None) if isinstance(panes, list) else None
    if pane is None or not isinstance(panes, list):
        return f"{where.text} closed with it"
    return _close_whole(pane, panes, taken) if anyway else _close_own(pane, session)


def _close_own(pane: Pane, session: Session) -> str:
    was = session.process.pid if session.process else None
    if pane.pid != was:
        return f"{pane.text} was left open: something else runs in it"
    if not pane.dead:
        return f"{pane.text} closes by itself"
    return f"{pane.text} closed" if tmux.close_pane(pane) else f"{pane.text} could not be closed"


def _close_whole(pane: Pane, panes: list[Pane], taken: dict[str, str]) -> str:
    beside = [each for each in panes if each.window == pane.window and each.socket == pane.socket]
    hosts = [taken[key_of(each)] for each in beside if key_of(each) in taken]
    name = f"{pane.session}:{pane.window_index}"
    if hosts:
        return f"window {name} was left open: {hosts[0][:4]} is in it too"
    return f"window {name} closed" if tmux.close_window(pane) else f"window {name} could not be closed"
