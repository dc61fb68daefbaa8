"""Hearing: what a report, a registry record or a found process changes.

Rules of this file
  1. A word that is not newer than what is known changes nothing, so that doubles, late ones and
     any order come to the same rows.
  2. A subagent's words never set the main activity.
  3. One word makes one event; what only shows life makes the smallest.

Not here: to which session it belongs (placement.py), liveness by proof (decide.py).
"""

from typing import Any

from headcount.core.activity import Activity, Status, Turned, judge, newer
from headcount.core.events import EventType
from headcount.core.placement import Fresh, Misfit, place_record, place_report
from headcount.core.registration import carried
from headcount.core.report import Anchor, Background, Details, Found, Opening, Record, Report, Turn
from headcount.core.session import (
    Ended,
    EndKind,
    Leaving,
    Liveness,
    Note,
    Session,
    SessionId,
    Turnpoint,
    after,
    can,
)
from headcount.core.world import Draft

NOTES_KEPT = 4

SWAP_WORDS = {"clear": "/clear", "resume": "/resume", "fork": "/branch"}


def hear_report(draft: Draft, report: Report, now: float) -> SessionId | None:
    seat = place_report(draft, report, now)
    if isinstance(seat, Misfit):
        draft.count("late_reports" if seat.session else "misfit_reports")
        _farewell(draft, seat.session, report)
        return seat.session.id if seat.session else None
    if isinstance(seat, Fresh):
        return _open(draft, report, seat, now).id
    session = seat.session
    if seat.supersedes is not None:
        session = _supersede(draft, seat.supersedes, session, report.at, report.opening)
    return _change(draft, session, report, now).id


def hear_record(draft: Draft, record: Record, now: float) -> SessionId | None:
    seat = place_record(draft, record, now)
    if isinstance(seat, Misfit):
        draft.count("stale_records")
        return None
    at = min(record.written_at, now)
    if isinstance(seat, Fresh):
        session = _begin(draft, record.agent, record.conversation, record.anchor, seat, at, {}, None)
    elif seat.supersedes is not None:
        session = _supersede(draft, seat.supersedes, seat.session, at, None)
    else:
        session = seat.session
    delta = _identified(draft, session, record.conversation) | _bound(draft, session, record.anchor)
    delta |= _details(session, record.details, level=True)
    if record.entrypoint and record.entrypoint != session.entrypoint:
        delta["entrypoint"] = record.entrypoint
    if record.status is not None:
        word = Status(record.at, record.status, record.waiting_on)
        if session.status is None or (word.at >= min(session.status.at, now) and word != session.status):
            delta["status"] = word
    return _settle(draft, session, delta, at, now).id


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
        started_at=found.at,
        last_event_at=found.at,
        boot=draft.place.boot,
        process=found.process,
        bound_by="scan",
        hosted_at=found.at,
        cwd=found.cwd,
        parent=_parent(draft, found.parent),
    ).id


# --- a session begins --------------------------------------------------------------------------------


def _open(draft: Draft, report: Report, seat: Fresh, now: float) -> Session:
    fields: dict[str, Any] = {}
    turned = _turned(report)
    if turned is not None and report.subagent is None:
        fields["turned"] = turned
        fields["activity"] = judge(turned, None, Activity())
    fields |= {key: value for key, value in _details(None, report.details).items() if value is not None}
    fields |= _background((), report)
    if report.leaving is not None:
        fields["leaving"] = Leaving(report.at, report.leaving)
    session = _begin(
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


def _begin(
    draft: Draft,
    agent: str,
    conversation: str,
    anchor: Anchor,
    seat: Fresh,
    at: float,
    fields: dict[str, Any],
    opening: Opening | None,
) -> Session:
    process = None if seat.provisional else anchor.process
    if process is None:
        liveness, because = Liveness.UNBOUND, anchor.why or "no process was named"
    elif anchor.alive:
        liveness, because = Liveness.ALIVE, f"bound by {anchor.by}"
    else:
        liveness, because = Liveness.DOUBTED, f"named by {anchor.by}, to be asked"
    fields |= {"notes": (Note(at, anchor.by or "binding", anchor.why),)} if anchor.why else {}
    fields |= carried(seat.supersedes)
    session = draft.start(
        at,
        agent=agent,
        conversation=conversation,
        liveness=liveness,
        liveness_because=because,
        liveness_at=at,
        started_at=at,
        last_event_at=at,
        boot=draft.place.boot,
        process=process,
        bound_by=anchor.by if process else None,
        hosted_at=at if process else 0.0,
        provisional=seat.provisional,
        predecessor=seat.predecessor.id if seat.predecessor else None,
        parent=_parent(draft, anchor.parent),
        **fields,
    )
    if seat.supersedes is not None:
        _end_superseded(draft, seat.supersedes, session, at, opening)
    return session


def _supersede(draft: Draft, old: Session, new: Session, at: float, opening: Opening | None) -> Session:
    """An unbound session turns out to be what the process of `old` hosts now."""
    process, bound_by = old.process, old.bound_by
    _end_superseded(draft, old, new, at, opening)
    return draft.emit(
        EventType.SESSION_BOUND,
        at,
        new.id,
        process=process,
        bound_by=bound_by,
        hosted_at=at,
        liveness=after(new, Turnpoint.BOUND),
        liveness_because=f"bound by {bound_by}",
        liveness_at=at,
        provisional=False,
        ended=None,
        **carried(old),
    )


def _end_superseded(draft: Draft, old: Session, new: Session, at: float, opening: Opening | None) -> None:
    reason = old.leaving.reason if old.leaving else (opening.value if opening else None)
    how = f" ({SWAP_WORDS[reason]})" if reason in SWAP_WORDS else ""
    draft.emit(
        EventType.SESSION_ENDED,
        at,
        old.id,
        liveness=after(old, Turnpoint.SUPERSEDED),
        liveness_because="its process hosts another conversation",
        liveness_at=at,
        ended=Ended(at, EndKind.SUPERSEDED, f"continued as {new.id[:4]}{how}", successor=new.id),
    )


# --- a session changes -------------------------------------------------------------------------------


def _change(draft: Draft, session: Session, report: Report, now: float) -> Session:
    delta = _identified(draft, session, report.conversation) | _bound(draft, session, report.anchor)
    if report.at >= min(session.last_event_at, now):  # the newest word on what it does not order by itself
        delta |= _details(session, report.details)
        delta |= _background(session.background, report)
    delta |= _noted(session, report)
    if report.subagent is None:
        turned = _turned(report)
        if turned is not None and newer(turned, session.turned, now):
            delta["turned"] = turned
    at = min(report.at, now)
    if session.provisional and report.opening is None:
        delta["provisional"] = False  # a second start confirms nothing; any other word does
    if report.leaving is not None and (session.leaving is None or report.at > session.leaving.at):
        delta["leaving"] = Leaving(report.at, report.leaving)
    elif session.leaving is not None and report.leaving is None and _moved_on(session, report):
        delta["leaving"] = None
    session = _settle(draft, session, delta, at, now)
    return _end_if_reported(draft, session, report)


def _moved_on(session: Session, report: Report) -> bool:
    assert session.leaving is not None
    return report.subagent is None and report.says is not None and report.at > session.leaving.at


def _settle(draft: Draft, session: Session, delta: dict[str, Any], at: float, now: float) -> Session:
    """Derives what follows from the changed words and makes the one event."""
    turned = delta.get("turned", session.turned)
    status = delta.get("status", session.status)
    activity = judge(turned, status, session.activity)
    if activity != session.activity:
        delta["activity"] = activity
    if at > min(session.last_event_at, now):
        delta["last_event_at"] = at
        if session.liveness is Liveness.LOST or not session.is_open:
            delta.setdefault("liveness", after(session, Turnpoint.HEARD))
    if not session.is_open and "liveness" in delta:
        delta["ended"] = None
    if "liveness" in delta:
        delta.setdefault("liveness_because", "heard again")
        delta["liveness_at"] = at
    if not delta:
        draft.count("repeated_reports")
        return session
    return draft.emit(_kind(session, delta, activity), at, session.id, **delta)


def _kind(session: Session, delta: dict[str, Any], activity: Activity) -> EventType:
    if not session.is_open and "liveness" in delta:
        return EventType.SESSION_REOPENED
    if "process" in delta:
        return EventType.SESSION_BOUND
    shown = (
        session.activity.doing,
        session.activity.waiting_on,
        session.activity.label,
        session.activity.failure,
    )
    if (activity.doing, activity.waiting_on, activity.label, activity.failure) != shown:
        return EventType.SESSION_ACTIVITY
    if set(delta) <= {"last_event_at", "activity", "turned", "status"}:
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
    if session is None or report.leaving is None or session.leaving is not None or session.is_open:
        return
    draft.emit(EventType.SESSION_CHANGED, report.at, session.id, leaving=Leaving(report.at, report.leaving))


# --- the parts of a delta ----------------------------------------------------------------------------


def _turned(report: Report) -> Turned | None:
    if report.says is None:
        return None
    waiting_on = report.waiting_on if report.says is Turn.ASKED else None
    return Turned(
        report.at, report.says, report.event, report.source, waiting_on, report.doing, report.failure
    )


def _identified(draft: Draft, session: Session, conversation: str) -> dict[str, Any]:
    if session.conversation is not None:
        return {}
    known = draft.of_conversation(session.agent, conversation)
    return {"conversation": conversation, "predecessor": known[-1].id if known else None}


def _bound(draft: Draft, session: Session, anchor: Anchor) -> dict[str, Any]:
    if anchor.process is None or not anchor.alive:
        return {}
    host = draft.current(anchor.process)
    if host is not None and host.id != session.id:
        return {}  # the process has a session; only a swap, which ends that one, takes it over
    if session.process is None or session.liveness is Liveness.DOUBTED:
        return {
            "process": session.process or anchor.process,
            "bound_by": anchor.by,
            "hosted_at": session.hosted_at or session.started_at,
            "liveness": after(session, Turnpoint.BOUND),
            "liveness_because": f"bound by {anchor.by}",
            "parent": session.parent or _parent(draft, anchor.parent),
            "provisional": False,
        }
    if session.conversation is None:
        return {"bound_by": anchor.by}  # found by a scan, now named by stronger evidence
    return {}


def _details(session: Session | None, details: Details, level: bool = False) -> dict[str, Any]:
    """New facts beside the turn. A registry (`level`) gives a directory only where none is known:
    it does not follow a `cd`, hooks do."""
    given = {
        "cwd": details.cwd if not (level and session is not None and session.cwd) else None,
        "name": details.name if session is None or not _is_named(session) else None,
        "model": details.model,
        "transcript": details.transcript,
        "permission_mode": details.permission_mode,
    }
    return {
        key: value
        for key, value in given.items()
        if value is not None and (session is None or getattr(session, key) != value)
    }


def _is_named(session: Session) -> bool:
    """By whoever registered it, whose word on the name stands."""
    return session.registration is not None and session.registration.name is not None


def _background(known: tuple[Background, ...], report: Report) -> dict[str, Any]:
    now = known
    if report.background is not None:
        now = report.background
    if report.background_started is not None:
        started = report.background_started
        now = (*(each for each in now if each.id != started.id), started)
    if report.background_ended is not None:
        now = tuple(each for each in now if each.id != report.background_ended)
    return {"background": now} if now != known else {}


def _noted(session: Session, report: Report) -> dict[str, Any]:
    anchor = report.anchor
    if not anchor.why or session.process is not None:
        return {}
    known = {(note.source, note.what) for note in session.notes}
    note = Note(report.at, anchor.by or "binding", anchor.why)
    if (note.source, note.what) in known:
        return {}
    return {"notes": (*session.notes, note)[-NOTES_KEPT:]}


def _parent(draft: Draft, process: Any) -> SessionId | None:
    host = draft.current(process) if process is not None else None
    return host.id if host else None
