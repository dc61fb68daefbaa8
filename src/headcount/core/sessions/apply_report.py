"""Hearing: what a report, a registry record or a found process changes.

Rules
  1. A word that is not newer than what is known changes nothing, so that doubles, late ones and
     any order come to the same rows.
  2. A subagent's words never set the main activity.
  3. One word makes one event; what only shows life makes the smallest.

Not here: to which session it belongs (match_session.py), liveness by proof (core/decide.py).
"""

from headcount.core.sessions import field_changes
from headcount.core.sessions.end_reason import told_late
from headcount.core.sessions.match_session import Existing, Fresh, Misfit, place_record, place_report
from headcount.core.sessions.start import begin, make_room, retell_swap, supersede
from headcount.core.state.world import Draft
from headcount.core.values.activity import Activity, RegistryStatus, Turned, heard_status, judge, newer
from headcount.core.values.events import EventType
from headcount.core.values.evidence import ConversationClosed, Glimpse
from headcount.core.values.report import Found, Record, Report, counted
from headcount.core.values.session import (
    Changes,
    Ended,
    EndKind,
    Leaving,
    Liveness,
    Session,
    SessionId,
    Turnpoint,
    after,
    can,
    traced,
)


def hear_report(draft: Draft, report: Report, now: float) -> SessionId | None:
    seat = place_report(draft, report, now)
    if isinstance(seat, Misfit):
        draft.count("late_reports" if seat.session else "misfit_reports")
        _farewell(draft, seat.session, report)
        return seat.session.id if seat.session else None
    if _is_unproven(seat, report) and not make_room(draft, now):
        return None
    if isinstance(seat, Fresh):
        return _open(draft, report, seat, now).id
    session = seat.session
    if seat.supersedes is not None:
        session = supersede(draft, seat.supersedes, session, report.at, report.opening)
    session = _change(draft, session, report, now)
    retell_swap(draft, session, min(report.at, now), report.opening)
    return session.id


def _is_unproven(seat: Fresh | Existing, report: Report) -> bool:
    """Whether a session without a process opens by it, or opens again."""
    if isinstance(seat, Fresh):
        return seat.provisional or report.anchor.process is None
    return not seat.session.is_open and seat.session.process is None and report.anchor.process is None


def hear_record(draft: Draft, record: Record, now: float) -> SessionId | None:
    seat = place_record(draft, record, now)
    if isinstance(seat, Misfit):
        draft.count("stale_records")
        return None
    at = min(record.written_at, now)
    if isinstance(seat, Fresh):
        session = begin(draft, record.agent, record.conversation, record.anchor, seat, at, {}, None)
    elif seat.supersedes is not None:
        session = supersede(draft, seat.supersedes, seat.session, at, None)
    else:
        session = seat.session
    changes = field_changes.identified(draft, session, record.conversation) | field_changes.bound(
        draft, session, record.anchor, beside=record.beside
    )
    changes |= field_changes.details(session, record.details, level=True)
    if record.entrypoint and record.entrypoint != session.entrypoint:
        changes["entrypoint"] = record.entrypoint
    if record.status is not None:
        word = heard_status(RegistryStatus(record.at, record.status, record.waiting_on), session.status, now)
        if word is not None:
            changes["status"] = word
    return update_session(draft, session, changes, at, now, "registry").id


def hear_glimpse(draft: Draft, glimpse: Glimpse, now: float) -> SessionId | None:
    """A transcript starts nothing and ends nothing; it only adds to what is open, when that is one, and to what
    ended last its figures: an agent writes what a conversation cost when it leaves it."""
    known = draft.of_conversation(glimpse.agent, glimpse.conversation)
    living = [each for each in known if each.is_open]
    if len(living) != 1:
        return _summed_up(draft, known[-1], glimpse, now) if known and not living else None
    session = living[0]
    changes = field_changes.seen(session, glimpse, now)
    turned = glimpse.turned
    if turned is not None and session.status is None and newer(turned, session.turned, now):
        changes["turned"] = turned  # where the registry speaks it knows better
    if changes:
        at = _last_heard(session, changes, now)
        update_session(draft, session, changes, at, now)
    return session.id


def _last_heard(session: Session, changes: Changes, now: float) -> float:
    """Whoever writes is heard of by what it wrote."""
    turned: Turned | None = changes.get("turned")
    if turned is None or session.liveness is not Liveness.ALIVE:
        return session.last_event_at
    return max(session.last_event_at, min(turned.at, now))


def _summed_up(draft: Draft, session: Session, glimpse: Glimpse, now: float) -> SessionId | None:
    changes = field_changes.seen(session, glimpse, now)
    if not changes:
        return None
    return draft.emit(EventType.SESSION_CHANGED, now, session.id, **changes).id


def hear_found(draft: Draft, found: Found, now: float) -> SessionId | None:
    """A living agent that nobody told of: a session without a conversation, until it names one."""
    if draft.of_process(found.process):
        return None
    return draft.start(
        min(found.at, now),
        agent=found.agent,
        conversation=None,
        liveness=Liveness.ALIVE,
        liveness_because="found running",
        liveness_at=found.at,
        started_at=found.at if found.began_at is None else min(found.at, found.began_at),
        last_event_at=found.at,
        boot=draft.place.boot,
        process=found.process,
        bound_by="scan",
        hosted_at=found.at,
        cwd=found.cwd,
        **traced((), {"cwd": found.cwd} if found.cwd else {}, "scan", found.at),
        parent=field_changes.parent_of(draft, found.parent),
    ).id


def hear_closed(draft: Draft, closed: ConversationClosed, now: float) -> SessionId | None:
    """The process lives and has it open no more. What the process holds it goes on holding."""
    for session in draft.hosted(closed.process):
        if (session.agent, session.conversation) == (closed.agent, closed.conversation):
            at = min(closed.at, now)
            return draft.emit(
                EventType.SESSION_ENDED,
                at,
                session.id,
                liveness=after(session, Turnpoint.SUPERSEDED),
                liveness_because="its process has it open no more",
                liveness_at=at,
                ended=Ended(at, EndKind.CLOSED, _why_closed(session)),
            ).id
    return None


def _why_closed(session: Session) -> str:
    said = session.leaving.reason if session.leaving and session.leaving.reason != "other" else None
    return f"closed ({said})" if said else "closed"


def _open(draft: Draft, report: Report, seat: Fresh, now: float) -> Session:
    fields: Changes = {}
    turned = field_changes.turned(report)
    if turned is not None and report.subagent is None:
        fields["turned"] = turned
        fields["activity"] = judge(turned, None, Activity())
    fields |= {
        key: value for key, value in field_changes.details(None, report.details).items() if value is not None
    }
    fields |= traced((), fields, report.source, report.at)
    fields |= field_changes.background((), report)
    if report.leaving is not None:
        fields["leaving"] = Leaving(report.at, report.leaving)
    session = begin(
        draft,
        report.agent,
        report.conversation,
        report.anchor,
        seat,
        min(report.at, now),
        fields,
        report.opening,
    )
    return _end_if_reported(draft, session, report)


# --- a session changes -------------------------------------------------------------------------------


def _change(draft: Draft, session: Session, report: Report, now: float) -> Session:
    changes = field_changes.identified(draft, session, report.conversation) | field_changes.bound(
        draft, session, report.anchor, beside=report.beside
    )
    if report.at >= counted(
        session.last_event_at, now
    ):  # the newest word on what it does not order by itself
        changes |= field_changes.details(session, report.details)
        changes |= field_changes.background(session.background, report)
    elif report.background is not None and _is_newest_word(session, report, now):
        changes |= field_changes.background(
            session.background, report
        )  # the whole list, only the registry was read before
    changes |= field_changes.noted(session, report)
    if report.subagent is None:
        turned = field_changes.turned(report)
        if turned is not None and newer(turned, session.turned, now):
            changes["turned"] = turned
    at = min(report.at, now)
    if session.provisional and report.opening is None:
        changes["provisional"] = False  # a second start confirms nothing; any other word does
    if report.leaving is not None and (
        session.leaving is None or report.at > counted(session.leaving.at, now)
    ):
        changes["leaving"] = Leaving(report.at, report.leaving)
    elif session.leaving is not None and report.leaving is None and _moved_on(session, report, now):
        changes["leaving"] = None
    session = update_session(draft, session, changes, at, now, report.source)
    return _end_if_reported(draft, session, report)


def _is_newest_word(session: Session, report: Report, now: float) -> bool:
    """Nothing that a hook said of the main turn is as new."""
    turned = field_changes.turned(report) if report.subagent is None else None
    return turned is not None and newer(turned, session.turned, now)


def _moved_on(session: Session, report: Report, now: float) -> bool:
    assert session.leaving is not None
    later = report.at > counted(session.leaving.at, now)
    return report.subagent is None and report.says is not None and later


def update_session(
    draft: Draft, session: Session, changes: Changes, at: float, now: float, source: str = ""
) -> Session:
    """Derives what follows from the changed words and makes the one event."""
    changes |= traced(session.origins, changes, source, at) if source else {}
    turned = changes.get("turned", session.turned)
    status = changes.get("status", session.status)
    activity = judge(turned, status, session.activity)
    if activity != session.activity:
        changes["activity"] = activity
    if at > counted(session.last_event_at, now):
        changes["last_event_at"] = at
        if session.liveness is Liveness.LOST or not session.is_open:
            changes.setdefault("liveness", after(session, Turnpoint.HEARD))
    if not session.is_open and "liveness" in changes:
        changes["ended"] = None
    if "liveness" in changes:
        changes.setdefault("liveness_because", "heard again")
        changes["liveness_at"] = at
    if session.stall is not None and "last_event_at" in changes:
        changes["stall"] = None
    if not changes:
        draft.count("repeated_reports")
        return session
    return draft.emit(_kind(session, changes, activity), at, session.id, **changes)


def _kind(session: Session, changes: Changes, activity: Activity) -> EventType:
    if not session.is_open and "liveness" in changes:
        return EventType.SESSION_REOPENED
    if "process" in changes:
        return EventType.SESSION_BOUND
    shown = (
        session.activity.doing,
        session.activity.waiting_on,
        session.activity.label,
        session.activity.failure,
    )
    told = (activity.doing, activity.waiting_on, activity.label, activity.failure) != shown
    if told or "stall" in changes:
        return EventType.SESSION_ACTIVITY
    if set(changes) <= {"last_event_at", "activity", "turned", "status"}:
        return EventType.SESSION_HEARD
    return EventType.SESSION_CHANGED


def _end_if_reported(draft: Draft, session: Session, report: Report) -> Session:
    """A farewell ends a session only where no process can be asked."""
    if report.leaving is None or session.process is not None or not can(session, Turnpoint.END_REPORTED):
        return session
    return draft.emit(
        EventType.SESSION_ENDED,
        report.at,
        session.id,
        liveness=after(session, Turnpoint.END_REPORTED),
        liveness_because="it said so, and no process is known",
        liveness_at=report.at,
        ended=Ended(report.at, EndKind.REPORTED, f"said goodbye ({report.leaving})"),
    )


def _farewell(draft: Draft, session: Session | None, report: Report) -> None:
    """A SessionEnd that arrives after the death says why it left; the end stays as it was proven."""
    if session is None or session.ended is None or report.leaving is None or session.leaving is not None:
        return
    leaving = Leaving(report.at, report.leaving)
    ended = told_late(session.ended, leaving)
    draft.emit(EventType.SESSION_CHANGED, report.at, session.id, leaving=leaving, ended=ended)
