"""Beginnings: a session starts, or takes over the process of another.

Rules
  1. A process hosts one session: whoever takes it over ends the one before in the same breath.
  2. A provisional session has no process yet, whatever its anchor says.
  3. At most UNPROVEN_MOST sessions without a process are open, and as many ended ones are remembered: anybody can report
     them. For a new one the one that was lost first ends; while none is lost, the new one is not taken. A
     session with a process never gives way.
  4. The registry tells of a swap before the hook that says by which command: the word is put right then.

Not here: whether it begins (match_session.py), what it was told since (apply_report.py).
"""

from itertools import islice

from msgspec.structs import replace

from headcount.core.sessions.field_changes import parent_of
from headcount.core.sessions.match_session import Fresh
from headcount.core.sessions.registration import carried
from headcount.core.state.world import UNPROVEN, Draft
from headcount.core.values.events import EventType
from headcount.core.values.report import Anchor, Opening
from headcount.core.values.session import Changes, Ended, EndKind, Liveness, Note, Session, Turnpoint, after

UNPROVEN_MOST = 500
SWAP_WORDS = {"clear": "/clear", "resume": "/resume", "fork": "/branch"}


def begin(
    draft: Draft,
    agent: str,
    conversation: str,
    anchor: Anchor,
    seat: Fresh,
    at: float,
    fields: Changes,
    opening: Opening | None,
) -> Session:
    process = None if seat.provisional else anchor.process
    if process is None:
        liveness, because = Liveness.UNBOUND, anchor.why or "no process was named"
    elif anchor.alive:
        liveness, because = Liveness.ALIVE, f"bound by {anchor.by}"
    else:
        liveness, because = Liveness.DOUBTED, f"named by {anchor.by}, to be asked"
    fields |= {"notes": (Note(at, anchor.by or "binding", anchor.why, anchor.code),)} if anchor.why else {}
    fields |= carried(seat.supersedes)
    session = draft.start(
        at,
        agent=agent,
        conversation=conversation,
        liveness=liveness,
        liveness_because=because,
        liveness_at=at,
        started_at=_since(draft, anchor, seat, at),
        last_event_at=at,
        boot=draft.place.boot,
        process=process,
        bound_by=anchor.by if process else None,
        hosted_at=at if process else 0.0,
        provisional=seat.provisional,
        predecessor=seat.predecessor.id if seat.predecessor else None,
        parent=parent_of(draft, anchor.parent),
        **fields,
    )
    if seat.supersedes is not None:
        _end_superseded(draft, seat.supersedes, session, at, opening)
    return session


def make_room(draft: Draft, at: float) -> bool:
    """Whether one more session without a process may be open."""
    adrift, lost, ended = (draft.unproven[each] for each in UNPROVEN)
    excess = len(adrift) + len(lost) + 1 - UNPROVEN_MOST
    if excess > len(lost):
        draft.count("unproven_refused")
        return False
    because = f"over {UNPROVEN_MOST} sessions without a process, and this one was lost first"
    for id in list(islice(lost, max(0, excess))):
        draft.count("unproven_forgotten")
        draft.emit(
            EventType.SESSION_ENDED,
            at,
            id,
            liveness=after(draft.sessions[id], Turnpoint.END_REPORTED),
            liveness_because=because,
            liveness_at=at,
            ended=Ended(at, EndKind.REPORTED, because),
        )
    for id in list(islice(ended, max(0, len(ended) - UNPROVEN_MOST))):
        draft.drop(id)
    return True


def _since(draft: Draft, anchor: Anchor, seat: Fresh, at: float) -> float:
    """The first session of a process is as old as the process, however late it was heard of."""
    is_first = anchor.process is not None and seat.supersedes is None and not draft.of_process(anchor.process)
    if seat.provisional or not is_first or anchor.began_at is None:
        return at
    return min(at, anchor.began_at)


def supersede(draft: Draft, old: Session, new: Session, at: float, opening: Opening | None) -> Session:
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


def retell_swap(draft: Draft, session: Session, at: float, opening: Opening | None) -> None:
    """What its process hosted before it is told to have been left by the command that this start names."""
    if session.process is None or opening is None or opening.value not in SWAP_WORDS:
        return
    for old in draft.of_process(session.process):
        if old.ended is not None and old.ended.successor == session.id:
            because = _continued(session, old, opening)
            if because != old.ended.because:
                ended = replace(old.ended, because=because)
                draft.emit(EventType.SESSION_CHANGED, at, old.id, ended=ended)


def _continued(new: Session, old: Session, opening: Opening | None) -> str:
    """/branch says farewell as /resume does; only the start that follows tells them apart."""
    reasons = (opening.value if opening else None, old.leaving.reason if old.leaving else None)
    how = next((f" ({SWAP_WORDS[reason]})" for reason in reasons if reason in SWAP_WORDS), "")
    return f"continued as {new.id[:4]}{how}"


def _end_superseded(draft: Draft, old: Session, new: Session, at: float, opening: Opening | None) -> None:
    draft.emit(
        EventType.SESSION_ENDED,
        at,
        old.id,
        liveness=after(old, Turnpoint.SUPERSEDED),
        liveness_because="its process hosts another conversation",
        liveness_at=at,
        ended=Ended(at, EndKind.SUPERSEDED, _continued(new, old, opening), successor=new.id),
    )
