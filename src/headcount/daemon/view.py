"""The view: what the wire shows of the core's values.

Rules of this file
  1. One place turns sessions and events into wire messages; every face shows the same.
  2. People's words for liveness: a session without a process that can be asked is `unknown`.
  3. An old event shows the session as it is known now, overlaid with what that event said.

Not here: explanations (explain.py), drawing (cli/).
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from headcount.core.change import changed
from headcount.core.claim import Claim
from headcount.core.events import Event
from headcount.core.session import Ended, Liveness, Session
from headcount.core.world import World
from headcount.times import HIDDEN_AFTER
from headcount.wire import messages

TEXTS_KEPT = 4096  # moments whose text is remembered

LIVENESS_WORDS = {
    Liveness.UNBOUND: "unknown",
    Liveness.ALIVE: "alive",
    Liveness.DOUBTED: "unknown",
    Liveness.LOST: "lost",
    Liveness.ENDED: "ended",
}


def time_text(at: float) -> str:
    """Four a row, and a row for every event: the part down to the second is made once."""
    milliseconds = int(at * 1000)
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


@lru_cache(maxsize=TEXTS_KEPT)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def session_row(session: Session, world: World) -> messages.SessionRow:
    activity = session.activity
    return messages.SessionRow(
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
            messages.BackgroundWork(id=each.id, kind=each.kind, label=each.label)
            for each in session.background
        ],
        provisional=session.provisional,
        parent=session.parent,
        predecessor=session.predecessor,
        claims=held_by(session, world),
        alarms=list(session.alarms),
        ended=ended_row(session.ended) if session.ended else None,
    )


def held_by(session: Session, world: World) -> list[str]:
    """What its process holds. A session that was superseded in it or ended holds nothing."""
    if not session.is_open or session.process is None:
        return []
    return sorted(world.book.items_of(session.process))


def hosted_by(claim: Claim, world: World) -> Session | None:
    """The session that speaks for the holder: what its process hosts now, else the one that asked."""
    for id in reversed(world.by_pid.get(claim.holder.pid, ()) if claim.holder else ()):
        session = world.sessions[id]
        if session.is_open and claim.is_held_by(session.process):
            return session
    return world.sessions.get(claim.session) if claim.session else None


def holder_of(claim: Claim, session: Session | None) -> messages.Holder:
    return messages.Holder(
        session=session.id if session else claim.session,
        conversation=session.conversation if session else claim.conversation,
        pid=claim.holder.pid if claim.holder else None,
        name=session.name if session else None,
    )


def ended_row(ended: Ended) -> messages.Ended:
    return messages.Ended(
        at=time_text(ended.at),
        because=ended.because,
        kind=ended.kind.value,
        exit_code=ended.exit_code,
        signal=ended.signal,
        away=ended.away,
        successor=ended.successor,
    )


def event_row(event: Event, world: World) -> messages.EventRow:
    session = world.sessions.get(event.session) if event.session else None
    row = messages.EventRow(
        seq=event.seq,
        at=time_text(event.at),
        type=event.type.value,
        session=session_row(_as_of(session, event), world) if session else None,
    )
    if event.claim is None:
        row.facts = {key: _fact(key, value) for key, value in event.facts.items()} or None
    else:
        row.item, row.fence = event.claim.item, event.claim.fence
        row.holder = holder_of(event.claim, session)
        row.because, row.by = event.facts.get("because"), event.facts.get("by")
    return row


def _as_of(session: Session, event: Event) -> Session:
    """What came later, its end above all, is not shown with what came before. What a death brings with it (a
    claim that falls, an alarm that is cleared) has the same moment and came after it."""
    then = changed(session, event.delta)
    if session.ended is None or "ended" in event.delta or event.at >= session.ended.at:
        return then
    living = Liveness.ALIVE if then.process else Liveness.UNBOUND
    return changed(then, {"ended": None, "liveness": event.delta.get("liveness", living)})


def _fact(key: str, value: Any) -> Any:
    return time_text(value) if key.endswith(("_at", "_since")) and isinstance(value, float) else value


def visible(sessions: Iterable[Session], now: float, *, ended: bool) -> list[Session]:
    """What `ps` lists: no ended ones unless asked for, no phantom, nobody unheard for a day."""
    return [session for session in sessions if ended or _shown(session, now)]


def _shown(session: Session, now: float) -> bool:
    if not session.is_open or session.provisional:
        return False
    return session.liveness is not Liveness.LOST or now - session.last_event_at < HIDDEN_AFTER
