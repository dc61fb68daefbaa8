"""Panes that were left: an agent ended and its shell stays; a window that no session owns (K6).

Rules
  1. A pane is a session's leftover when that session was found in it, in this very server, by its process.
  2. Windows of the tmux sessions that the settings name, which no session is in, are nobody's leftovers: one
     warning each. Reserved ones, and other tmux sessions, are people's own business.
  3. An agent in a pane whose conversation nobody named for long is reported too.
  4. A server that cannot be asked says nothing: what was there stays.
  5. Nothing is closed here, and no pane's process is ever a leftover process: it is somebody's shell.

Not here: when they are looked for (collect.py), closing one's own window (daemon/ending/stop_close_reap.py).
"""

from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from headcount.core.values.leftover import Find, Leftover, LeftoverKind
from headcount.core.values.session import Liveness, Session, SessionId
from headcount.core.values.terminal import TMUX, Pane, TerminalPlace
from headcount.system import tmux
from headcount.times import UNNAMED_AFTER

Servers = Mapping[str, tmux.Panes]
Key = str


class Soon(Enum):
    """Its own process has just ended, and tmux is about to close it."""

    SETTLING = "settling"


def key_of(where: TerminalPlace | Pane) -> Key:
    pane = where.id if isinstance(where, Pane) else where.pane
    return f"{where.socket} {where.server} {where.server_since} {pane}"


def taken_by(sessions: Iterable[Session]) -> dict[Key, Session]:
    """Panes that open sessions are in."""
    return {key_of(each.where): each for each in sessions if each.is_open and each.where is not None}


def seen_in(servers: Servers) -> dict[Key, Pane]:
    """All panes that were listed; one that several sessions of tmux show is the same pane."""
    return {key_of(pane): pane for panes in servers.values() if isinstance(panes, list) for pane in panes}


def left_by(session: Session, panes: Mapping[Key, Pane], taken: Collection[Key]) -> Find | Soon | None:
    """What its end left of the pane that it was in."""
    where = session.where
    pane = panes.get(key_of(where)) if where is not None and where.program == TMUX else None
    if pane is None or key_of(pane) in taken:
        return None
    if pane.dead:
        return _find(
            pane, f"{pane.text}, kept open after its end", ("the agent was this pane's own process",)
        )
    if session.process is not None and pane.pid == session.process.pid:
        return Soon.SETTLING
    return _find(
        pane,
        f"{pane.text} {pane.program}",
        ("the agent ran in this pane", f"the process that it ran under, {pane.pid}, is left"),
    )


def bound_to_nothing(
    sessions: Iterable[Session], panes: Mapping[Key, Pane], now: float
) -> list[tuple[SessionId, Find]]:
    """Panes with a living agent whose conversation is still not known, long after it began: it sits at its first
    question, mostly, and nobody looks there."""
    found = []
    for session in sessions:
        if session.conversation is not None or session.liveness is not Liveness.ALIVE:
            continue
        pane = panes.get(key_of(session.where)) if session.where is not None else None
        if pane is not None and now - session.started_at > UNNAMED_AFTER:
            why = ("an agent runs in this pane", "nothing ever named its conversation")
            what = f"{pane.text} {session.agent}, conversation unknown"
            found.append((session.id, _find(pane, what, why, unbound=True)))
    return found


def owned_by_nobody(
    servers: Servers, names: Collection[str], reserved: Collection[str], taken: Collection[Key]
) -> list[Find]:
    """Windows of the tmux sessions of those names in which no session is. A reserved one is called by its name or
    its number."""
    windows: dict[tuple[str, int, str], list[Pane]] = {}
    for panes in servers.values():
        for pane in panes if isinstance(panes, list) else ():
            if pane.session in names:
                windows.setdefault((pane.socket, pane.server, pane.window), []).append(pane)
    found = []
    for panes in windows.values():
        first = min(panes, key=lambda pane: pane.index)
        is_reserved = first.window_name in reserved or str(first.window_index) in reserved
        if not is_reserved and not any(key_of(pane) in taken for pane in panes):
            what = f"{first.session}:{first.window_index} {first.window_name}".strip()
            found.append(
                _find(first, what, ("no session is in this window", f"tmux.sessions names {first.session}"))
            )
    return found


def why_gone(
    leftover: Leftover, servers: Servers, taken: Mapping[Key, Session], still: Collection[Key]
) -> str | None:
    """Why that pane is no leftover any more; None: it is one, or that cannot be told. `still`: what nobody owns now."""
    facts = leftover.facts
    panes = servers.get(str(facts.get("socket")))
    if panes is None or isinstance(panes, tmux.Unreachable):
        return None
    if isinstance(panes, tmux.NoServer):
        return "its tmux server is gone"
    pane = next((each for each in panes if key_of(each) == facts.get("key")), None)
    if pane is None:
        return "the pane is gone"
    host = taken.get(key_of(pane))
    if facts.get("unbound"):
        is_so = host is not None and host.conversation is None
        return None if is_so else "its conversation is known, or its agent is gone"
    if host is not None:
        return f"{host.id[:4]} runs in it"
    if leftover.session is None and key_of(pane) not in still:
        return "it is nobody's business of ours any more"
    return None


def _find(pane: Pane, what: str, evidence: tuple[str, ...], *, unbound: bool = False) -> Find:
    facts = {
        "key": key_of(pane),
        "socket": pane.socket,
        "pane": pane.id,
        "window": pane.window,
        "shell": pane.pid,
        "unbound": unbound,
    }
    return Find(LeftoverKind.PANE, key_of(pane), what, evidence, facts=facts)
