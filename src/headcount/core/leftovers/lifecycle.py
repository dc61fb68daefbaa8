"""Behind: what a find of leftovers changes, and when one is gone.

Rules
  1. A process that hosts or hosted a session is never a leftover, whoever's child it is: it is that session's.
  2. One process is one session's leftover. Whoever has it first keeps it, until a nearer reason is told.
  3. A process that is over never comes back; a pane, a worktree or a file may.
  4. Found again with more evidence is changed, not found: one warning each.

Not here: looking for leftovers (daemon/), two writers of one conversation (conversation_open_twice.py).
"""

from collections.abc import Sequence

from msgspec.structs import replace

from headcount.core.state.world import Draft
from headcount.core.values.events import Event, EventType
from headcount.core.values.leftover import Find, Left, Leftover, LeftoverGone, LeftoverKind, gone, leftover_id
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Session
from headcount.core.values.verdict import Standing

MOVES = frozenset({"process", "conversation", "liveness"})


def hear_left(draft: Draft, left: Left, now: float) -> None:
    session = draft.sessions.get(left.session) if left.session is not None else None
    if session is None and left.session is not None:
        return  # forgotten meanwhile, and with it what it left
    for find in left.found:
        _found(draft, find, session, min(left.at, now))
    if left.searched is not None:
        draft.remains.note_search(left.searched)
        draft.reopen(left.searched)


def hear_gone(draft: Draft, told: LeftoverGone, now: float) -> None:
    for id in told.leftovers:
        leftover = draft.remains.rows.get(id)
        if leftover is not None and leftover.is_there:
            _lose(draft, leftover, min(told.at, now), told.because)


def lose_process(draft: Draft, process: ProcessIdentity, at: float, because: str) -> None:
    """That very process is over, or is an agent of its own."""
    for leftover in draft.remains.of_process(process):
        _lose(draft, leftover, at, because)


def moved(draft: Draft, events: Sequence[Event]) -> list[Session]:
    """Sessions whose process, conversation or liveness is another since these events."""
    found = set()
    for event in events:
        is_a_move = event.type is EventType.SESSION_STARTED or not MOVES.isdisjoint(event.delta)
        if event.session is not None and is_a_move:
            found.add(event.session)
    return [draft.sessions[id] for id in sorted(found) if id in draft.sessions]


def drop_own_processes(draft: Draft, moved: Sequence[Session], now: float) -> None:
    """What turned out to be a session's own process is nobody's leftover."""
    for session in moved:
        if session.process is not None and session.is_open:
            for leftover in draft.remains.of_process(session.process):
                if leftover.kind is LeftoverKind.PROCESS:
                    _lose(draft, leftover, now, f"it is the agent of {session.id[:4]}")


def _found(draft: Draft, find: Find, session: Session | None, at: float) -> None:
    if (
        find.process is not None
        and find.kind is LeftoverKind.PROCESS
        and not _may_be_left(draft, find, session)
    ):
        return
    id = leftover_id(session.id if session else None, find.kind, find.key)
    known: Leftover | None = draft.remains.rows.get(id)
    if known is not None and known.is_there:
        _add(draft, known, find, at)
    elif known is None or find.kind is not LeftoverKind.PROCESS:
        leftover = Leftover(
            id=id,
            kind=find.kind,
            session=session.id if session else None,
            process=find.process,
            what=find.what,
            evidence=find.evidence,
            found_at=at,
            of=session.process if session else None,
            facts=find.facts,
        )
        draft.emit_leftover(EventType.LEFTOVER_FOUND, at, leftover)


def _may_be_left(draft: Draft, find: Find, session: Session | None) -> bool:
    assert find.process is not None
    known = draft.known(find.process)
    if draft.of_process(find.process) or (known is not None and known.standing is Standing.DEAD):
        return False
    others = draft.remains.of_process(find.process)
    return not any(each.session != (session.id if session else None) for each in others)


def _add(draft: Draft, known: Leftover, find: Find, at: float) -> None:
    more = tuple(each for each in find.evidence if each not in known.evidence)
    grown = replace(
        known, what=find.what, evidence=(*known.evidence, *more), facts={**known.facts, **find.facts}
    )
    if grown != known:
        draft.emit_leftover(EventType.LEFTOVER_CHANGED, at, grown)


def _lose(draft: Draft, leftover: Leftover, at: float, because: str) -> None:
    draft.emit_leftover(EventType.LEFTOVER_GONE, at, gone(leftover, at, because))
    if leftover.of is not None:
        draft.reopen(leftover.of)
