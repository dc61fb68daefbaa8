"""Turn sessions and events into the messages that every face shows: rows, one session in full, event rows.

Rules
  1. Only this module turns sessions and events into wire messages, so every face shows the same.
  2. Liveness is shown in people's words: a session without a process that can be asked is `unknown`.
  3. An old event shows the session as it is known now, overlaid with what that event said.
  4. The full view of a session is built only on request; the list and the stream do not pay for it.
  5. A fact that nobody reported has no source. Facts from the kernel are proved again by `explain`, not here.

Not here: explanations (daemon/views/explain.py), claims (daemon/views/claim_row.py), drawing (present/).
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from headcount.agents.catalog import AGENTS
from headcount.clean_text import command
from headcount.core.state.world import World
from headcount.core.values.claim import Claim
from headcount.core.values.events import Event
from headcount.core.values.session import Ended, Liveness, Session
from headcount.core.values.terminal import TMUX, TerminalPlace
from headcount.daemon.views.leftover_row import leftover_row
from headcount.daemon.views.timestamps import time_text as time_text
from headcount.system.mount_namespaces import is_ours
from headcount.times import HIDDEN_AFTER
from headcount.wire import claims, events, sessions
from headcount.wire.sessions import FactSource, SessionDetail, SessionRow

COMMANDS_KEPT = 4096  # conversations whose command is remembered

LIVENESS_WORDS = {
    Liveness.UNBOUND: "unknown",
    Liveness.ALIVE: "alive",
    Liveness.DOUBTED: "unknown",
    Liveness.LOST: "lost",
    Liveness.ENDED: "ended",
}

SHOWN_AS = {"spent": ("tokens", "cost_usd"), "checkout": ("repo", "branch", "worktree")}
"""Fields of a session that a row shows under other names."""


def session_row(session: Session, world: World) -> sessions.SessionRow:
    activity = session.activity
    return sessions.SessionRow(
        id=session.id,
        agent=session.agent,
        conversation=session.conversation,
        pid=session.process.pid if session.process else None,
        liveness=LIVENESS_WORDS[session.liveness],
        activity=activity.doing.value,
        waiting_on=activity.waiting_on.value if activity.waiting_on else None,
        failure=activity.failure,
        doing=activity.label,
        since=time_text(activity.since or session.started_at),
        name=session.name,
        role=session.role,
        groups=list(session.groups),
        cwd=session.cwd,
        title=session.title,
        model=session.model,
        context_tokens=session.context_tokens,
        entrypoint=session.entrypoint,
        permission_mode=session.permission_mode,
        started_at=time_text(session.started_at),
        last_event_at=time_text(session.last_event_at),
        source=activity.source,
        background=[
            sessions.BackgroundWork(id=each.id, kind=each.kind, label=each.label)
            for each in session.background
        ],
        provisional=session.provisional,
        parent=session.parent,
        predecessor=session.predecessor,
        claims=held_by(session, world),
        alarms=list(session.alarms),
        ended=ended_row(session.ended) if session.ended else None,
        **_more(session),
    )


def _more(session: Session) -> dict[str, Any]:
    checkout, spent = session.checkout, session.spent
    since = session.ended.at if session.ended else session.activity.since or session.started_at
    more: dict[str, Any] = {
        "state_since": time_text(since),
        "context_window": session.context_window,
        "version": session.version,
        "resume": resume_text(session.agent, session.conversation) if is_ours(session.cwd or "/") else None,
        "stalled": session.stall is not None,
    }
    if session.archived_at is not None:
        more["archived_at"] = time_text(session.archived_at)
    if session.where is not None:
        more |= {"where": session.where.text, "tmux": _tmux(session.where)}
    if checkout is not None:
        more |= {"repo": checkout.repo, "branch": checkout.branch, "worktree": checkout.worktree}
    if spent is not None:
        more["tokens"] = sessions.Tokens(input=spent.input, output=spent.output)
        more["cost_usd"] = spent.cost_usd
    return more


@lru_cache(maxsize=COMMANDS_KEPT)
def resume_text(agent: str, conversation: str | None) -> str | None:
    """The agent's own command, as a person would type it; None: there is none for such an id."""
    known = AGENTS.get(agent)
    words = known.resume(conversation) if known is not None and conversation is not None else None
    return None if words is None else command(*words)


def ended_untold(world: World) -> list[Session]:
    """Whom a reboot ended, and no person was shown."""
    return [each for each in world.sessions.values() if each.ended is not None and not each.ended.told]


def _tmux(where: TerminalPlace) -> sessions.TmuxPane | None:
    if where.program != TMUX or where.socket is None or where.pane is None:
        return None
    return sessions.TmuxPane(socket=where.socket, pane=where.pane)


def held_by(session: Session, world: World) -> list[str]:
    """What its process holds. A session that was superseded in it or ended holds nothing."""
    if not session.is_open or session.process is None:
        return []
    return sorted(world.book.items_of(session.process))


def hosted_by(claim: Claim, world: World) -> Session | None:
    """The session that speaks for the holder: the one that asked while its process hosts it, else what that
    hosts now. Of a holder on another host nothing here can speak."""
    if claim.host is not None and claim.host != world.known_as:
        return None
    asked = world.sessions.get(claim.session) if claim.session else None
    if asked is not None and asked.is_open and claim.is_held_by(asked.process):
        return asked
    for id in reversed(world.by_pid.get(claim.holder.pid, ()) if claim.holder else ()):
        session = world.sessions[id]
        if session.is_open and claim.is_held_by(session.process):
            return session
    return asked


def holder_of(claim: Claim, session: Session | None) -> claims.Holder:
    return claims.Holder(
        session=session.id if session else claim.session,
        conversation=session.conversation if session else claim.conversation,
        pid=claim.holder.pid if claim.holder else None,
        name=session.name if session else None,
        host=claim.host,
    )


def ended_row(ended: Ended) -> sessions.Ended:
    return sessions.Ended(
        at=time_text(ended.at),
        because=ended.because,
        kind=ended.kind.value,
        exit_code=ended.exit_code,
        signal=ended.signal,
        away=ended.away,
        successor=ended.successor,
    )


def event_row(event: Event, world: World) -> events.EventRow:
    session = world.sessions.get(event.session) if event.session else None
    row = events.EventRow(
        seq=event.seq,
        at=time_text(event.at),
        type=event.type.value,
        session=session_row(_as_of(session, event), world) if session else None,
    )
    row.leftover = leftover_row(event.leftover) if event.leftover else None
    if event.claim is None:
        row.facts = {key: _fact(key, value) for key, value in event.facts.items()} or None
    else:
        row.item, row.fence = event.claim.item, event.claim.fence
        row.holder = holder_of(event.claim, session)
        because, by = event.facts.get("because"), event.facts.get("by")
        row.because, row.by = str(because) if because else None, str(by) if by else None
    return row


def _as_of(session: Session, event: Event) -> Session:
    """What came later, its end above all, is not shown with what came before. What a death brings with it (a
    claim that falls, an alarm that is cleared) has the same moment and came after it."""
    is_newest = all(getattr(session, name) is value for name, value in event.delta.items())
    then = session if is_newest else replace(session, **event.delta)
    if session.ended is None or "ended" in event.delta or event.at >= session.ended.at:
        return then
    living = Liveness.ALIVE if then.process else Liveness.UNBOUND
    return replace(then, ended=None, liveness=event.delta.get("liveness", living))


def _fact(key: str, value: object) -> object:
    return time_text(value) if key.endswith(("_at", "_since")) and isinstance(value, float) else value


def visible(sessions: Iterable[Session], now: float, *, ended: bool) -> list[Session]:
    """What `ps` lists: no ended ones unless asked for, no phantom, nobody unheard for a day."""
    return [session for session in sessions if ended or _shown(session, now)]


def _shown(session: Session, now: float) -> bool:
    if not session.is_open or session.provisional:
        return False
    return session.liveness is not Liveness.LOST or now - session.last_event_at < HIDDEN_AFTER


def session_detail(session: Session, world: World) -> SessionDetail:
    row = session_row(session, world)
    shown = {name: getattr(row, name) for name in SessionRow.__struct_fields__}
    known = {name for name, value in shown.items() if value is not None} | {"transcript"}
    sources = {name: FactSource(source=source, at=_text(at)) for name, source, at in _told(session)}
    return SessionDetail(
        **shown,
        transcript=session.transcript,
        sources={name: source for name, source in sources.items() if name in known},
    )


def _told(session: Session) -> Iterator[tuple[str, str, float]]:
    yield from _of_the_process(session)
    activity = session.activity
    if activity.source != "none":
        for name in ("activity", "waiting_on", "failure", "doing"):
            yield name, activity.source, activity.at
    for origin in session.origins:
        for name in SHOWN_AS.get(origin.field, (origin.field,)):
            yield name, origin.source, origin.at
    given = session.registration
    if given is not None:
        names = [name for name in ("name", "role", "groups") if getattr(given, name)]
        yield from ((name, "registration", given.at) for name in names)
    if session.ended is not None:
        yield "ended", "kernel" if session.ended.proven else "hook", session.ended.at


def _of_the_process(session: Session) -> Iterator[tuple[str, str, float]]:
    if session.process is None:
        return
    by = session.bound_by or "kernel"
    yield "pid", by, session.hosted_at
    yield "conversation", by, session.hosted_at
    yield "liveness", "kernel", session.liveness_at
    yield "parent", "kernel", session.hosted_at


def _text(at: float) -> str | None:
    return time_text(at) if at else None
