"""Second writers: one conversation alive in two processes, which fork its transcript (accident K1).

Rules
  1. An alarm stands on both rows as long as both processes are proved alive, and a leftover says which is older and
     which was heard last. Both are derived from the rows, so that any order of words comes to the same.
  2. Doubt raises nothing. The end of either clears it. Nobody is ended for it.

Not here: the transcript's branches (agents/, daemon/observers/transcript_forks.py), registering one on purpose (core/sessions/registration.py).
"""

import re
from collections.abc import Sequence
from itertools import combinations

from headcount.core.leftovers.lifecycle import hear_gone, hear_left
from headcount.core.state.world import Draft
from headcount.core.values.events import EventType
from headcount.core.values.leftover import Find, Left, Leftover, LeftoverGone, LeftoverKind, leftover_id
from headcount.core.values.session import Liveness, Session, SessionId

OURS = re.compile(r"conversation also open in [0-9]+(?: .*)?")


def find_second_writers(draft: Draft, moved: Sequence[Session], now: float) -> None:
    """Looks at the conversations of sessions that moved, and at no other."""
    touched = {(each.agent, each.conversation) for each in moved if each.conversation is not None}
    for agent, conversation in sorted(touched):
        everyone = draft.of_conversation(agent, conversation)
        if len(everyone) > 1 or any(each.alarms for each in everyone):
            _settle_one(draft, everyone, now)


def _settle_one(draft: Draft, everyone: list[Session], now: float) -> None:
    living = sorted((each for each in everyone if _is_writer(each)), key=_age)
    for session in everyone:
        others = [each for each in living if each.id != session.id] if session in living else []
        _alarm(draft, session, others, now)
    pairs = {leftover_id(second.id, LeftoverKind.SECOND_WRITER, first.id): (first, second)
             for first, second in combinations(living, 2)}  # fmt: skip
    for first, second in pairs.values():
        known = draft.remains.rows.get(leftover_id(second.id, LeftoverKind.SECOND_WRITER, first.id))
        if known is None or not known.is_there:
            hear_left(draft, Left(second.id, (_find(first, second),), now), now)
    for session in everyone:
        for leftover in draft.remains.of_session(session.id):
            if leftover.kind is LeftoverKind.SECOND_WRITER and leftover.is_there and leftover.id not in pairs:
                hear_gone(
                    draft, LeftoverGone((leftover.id,), now, "only one process has the conversation now"), now
                )


def _is_writer(session: Session) -> bool:
    return session.liveness is Liveness.ALIVE and session.process is not None


def _age(session: Session) -> tuple[float, SessionId]:
    return session.started_at, session.id


def _find(first: Session, second: Session) -> Find:
    assert first.process is not None and second.process is not None
    heard = max((first, second), key=lambda each: each.last_event_at)
    return Find(
        kind=LeftoverKind.SECOND_WRITER,
        key=first.id,
        what=f"conversation also open in {first.process.pid}, which is older",
        evidence=(f"both processes are alive: {first.process.pid} and {second.process.pid}",),
        process=second.process,
        facts={
            "conversation": second.conversation,
            "sessions": [first.id, second.id],
            "pids": [first.process.pid, second.process.pid],
            "older": first.id,
            "heard_last": heard.id,
        },
    )


def _alarm(draft: Draft, session: Session, others: list[Session] | tuple[()], now: float) -> None:
    wanted = tuple(_text(each) for each in others)
    kept = tuple(alarm for alarm in session.alarms if OURS.fullmatch(alarm) is None)
    known = tuple(alarm for alarm in session.alarms if alarm not in kept)
    if known == wanted:
        return
    type = EventType.ALARM_RAISED if set(wanted) - set(known) else EventType.ALARM_CLEARED
    facts: dict[str, object] = {
        "kind": "second-writer",
        "alarm": (wanted or known)[0],
        "conversation": session.conversation,
        "sessions": sorted([session.id, *(each.id for each in others)]),
        "pids": [each.process.pid for each in others if each.process is not None],
    }
    draft.emit(type, now, session.id, facts=facts, alarms=(*kept, *wanted))


def _text(other: Session) -> str:
    assert other.process is not None
    return f"conversation also open in {other.process.pid} ({other.id[:4]})"


def writers(leftover: Leftover) -> tuple[SessionId, SessionId]:
    """The older and the newer, of a leftover of this kind."""
    sessions = leftover.facts["sessions"]
    assert isinstance(sessions, list | tuple)
    older, newer = sessions
    return SessionId(older), SessionId(newer)
