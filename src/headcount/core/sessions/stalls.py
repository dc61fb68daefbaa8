"""Stalls: a working session in which nothing stirs is marked, as a hint.

Rules
  1. A hint, never an end: nothing here touches liveness, and the activity stays `working`.
  2. All three sources must be quiet: no event, no growth of the transcript, no processor time of the process and
     what it started. One that cannot be read is doubt, and doubt marks nothing.
  3. Whatever stirs ends it: an event (apply_report.py), or a later look.

Not here: looking (daemon/observers/stalls.py), how long is long (times.py).
"""

from headcount.core.state.world import Draft
from headcount.core.values.activity import Doing
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Looked
from headcount.core.values.session import Liveness, Session, SessionId, Stall


def is_watched(session: Session) -> bool:
    """Whether standing still would mean anything for it."""
    return (
        session.liveness is Liveness.ALIVE
        and session.process is not None
        and session.activity.doing is Doing.WORKING
    )


def find_stall(session: Session, looked: Looked) -> Stall | None:
    """The stall that this look shows; None: something stirs, or it cannot be told."""
    if not is_watched(session) or looked.cpu_at is None:
        return None
    newest = max(session.last_event_at, looked.cpu_at, looked.transcript_at or 0.0)
    if looked.at - newest < looked.patience:
        return None
    return Stall(looked.at, session.last_event_at, looked.cpu_at, looked.transcript_at)


def weigh_look(draft: Draft, looked: Looked, now: float) -> SessionId | None:
    session = draft.sessions.get(looked.session)
    if session is None:
        return None
    stall = find_stall(session, looked)
    if (stall is None) != (session.stall is None):
        draft.emit(EventType.SESSION_ACTIVITY, looked.at, session.id, stall=stall)
    return looked.session
