"""Deltas: what one word changes of a session, field by field.

Rules
  1. Each function looks at one part and returns only what differs; nothing new, no entry.
  2. None of them makes an event; apply_report.py puts the parts together into one.

Not here: to which session a word belongs (match_session.py), what follows from the change (apply_report.py).
"""

from headcount.core.state.world import Draft
from headcount.core.values.activity import Turned
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Anchor, Background, Details, Report, Turn, counted
from headcount.core.values.session import (
    Changes,
    Liveness,
    Note,
    Session,
    SessionId,
    Turnpoint,
    after,
    traced,
)

NOTES_KEPT = 4
DETAILS = ("cwd", "name", "model", "transcript", "permission_mode", "version")
FOLLOWED = ("cwd", "transcript")  # by hooks


def turned(report: Report) -> Turned | None:
    if report.says is None:
        return None
    waiting_on = report.waiting_on if report.says is Turn.ASKED else None
    return Turned(
        report.at, report.says, report.event, report.source, waiting_on, report.doing, report.failure
    )


def identified(draft: Draft, session: Session, conversation: str) -> Changes:
    if session.conversation == conversation:
        return {}
    known = draft.of_conversation(session.agent, conversation)
    return {"conversation": conversation, "predecessor": known[-1].id if known else None}


def bound(draft: Draft, session: Session, anchor: Anchor, *, beside: bool = False) -> Changes:
    is_bound = session.process is not None and session.liveness is not Liveness.DOUBTED
    if anchor.process is None or not anchor.alive or (is_bound and session.conversation is not None):
        return {}
    hosts = draft.hosted(anchor.process)
    if hosts and not beside and all(each.id != session.id for each in hosts):
        return {}  # the process has a session; only a swap, which ends that one, takes it over
    if not is_bound:
        return {
            "process": session.process or anchor.process,
            "bound_by": anchor.by,
            "hosted_at": session.hosted_at or session.started_at,
            "liveness": after(session, Turnpoint.BOUND),
            "liveness_because": f"bound by {anchor.by}",
            "parent": session.parent or parent_of(draft, anchor.parent),
            "provisional": False,
        }
    return {"bound_by": anchor.by}  # found by a scan, now named by stronger evidence


def details(session: Session | None, details: Details, level: bool = False) -> Changes:
    """New facts beside the turn. A registry (`level`) gives a directory and a transcript only where none
    is known: it does not follow a `cd` or a move, hooks do."""
    changes = {}
    for key in DETAILS:
        value = getattr(details, key)
        known = None if session is None else getattr(session, key)
        if value is None or value == known or (level and known and key in FOLLOWED):
            continue
        if key != "name" or session is None or not _is_named(session):
            changes[key] = value
    return changes


def _is_named(session: Session) -> bool:
    """By whoever registered it, whose word on the name stands."""
    return session.registration is not None and session.registration.name is not None


def seen(session: Session, glimpse: Glimpse, now: float) -> Changes:
    """What a transcript shows beside the turn, with its origins. A model that answered before another was learned
    changes nothing: a transcript is read again at every start of the daemon."""
    model_at = now if glimpse.model_at is None else min(glimpse.model_at, now)
    known_at = next((each.at for each in session.origins if each.field == "model"), 0.0)
    given = {
        "title": glimpse.title,
        "model": glimpse.model if model_at >= counted(known_at, now) else None,
        "context_tokens": glimpse.context_tokens,
        "context_window": glimpse.context_window,
        "spent": glimpse.spent,
        "version": glimpse.version,
    }
    changes = {
        key: value for key, value in given.items() if value is not None and getattr(session, key) != value
    }
    origins = traced(session.origins, changes, "transcript", now)
    if "model" in changes:
        origins = traced(origins["origins"], {"model": glimpse.model}, "transcript", model_at)
    return changes | origins


def background(known: tuple[Background, ...], report: Report) -> Changes:
    now = known
    if report.background is not None:
        now = report.background
    if report.background_started is not None:
        started = report.background_started
        now = (*(each for each in now if each.id != started.id), started)
    if report.background_ended is not None:
        now = tuple(each for each in now if each.id != report.background_ended)
    return {"background": now} if now != known else {}


def noted(session: Session, report: Report) -> Changes:
    anchor = report.anchor
    if not anchor.why or session.process is not None:
        return {}
    known = {(note.source, note.what) for note in session.notes}
    note = Note(report.at, anchor.by or "binding", anchor.why, anchor.code)
    if (note.source, note.what) in known:
        return {}
    return {"notes": (*session.notes, note)[-NOTES_KEPT:]}


def parent_of(draft: Draft, process: ProcessIdentity | None) -> SessionId | None:
    """Descent is from a process. Where that hosts several, its first session stands for it: the kernel does not
    say in which of them something was started."""
    hosts = draft.hosted(process) if process is not None else []
    return hosts[0].id if hosts else None
