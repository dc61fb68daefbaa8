"""Collisions without claims: two live sessions that edit one file, or work in one worktree and branch.

Rules
  1. What was edited is kept in memory only, for COLLISION_WITHIN (core/state/recent_edits.py); the journal hears of a path
     only in an alarm.
  2. An alarm stands on both rows and names the other session and the place. It is cleared when one of the two
     ended, or no longer works there.
  3. A session and those that it started are one: who asks a child to work is not surprised by it.
  4. An edit counts from when a tool is about to make it: an alarm is worth most before. If the turn ends and it was not
     made, because its user said no or it failed, it does not count. Where another has claimed the file a guard most likely
     denies it: there it counts only once it was made.
  5. After a restart nothing is remembered, so that nothing is claimed: alarms from before are cleared.

Not here: which file a tool edits (agents/), which worktree a directory is in (daemon/intake/edited_paths.py), claims.
"""

import re

from headcount.clean_text import ITEM_MOST, said
from headcount.core.claims.grants import others_in_the_way
from headcount.core.state.recent_edits import EditPlace, Pair
from headcount.core.state.world import Draft, World
from headcount.core.values.activity import Doing
from headcount.core.values.events import EventType
from headcount.core.values.item import Item
from headcount.core.values.report import Report, Turn, Worktree
from headcount.core.values.session import Session, SessionId
from headcount.times import COLLISION_WITHIN

AT_WORK = frozenset({Doing.WORKING, Doing.WAITING})
BETWEEN_TURNS = frozenset({Turn.STARTED, Turn.PROMPTED, Turn.STOPPED, Turn.FAILED})
WORKING_TURNS = frozenset({Turn.PROMPTED, Turn.TOOL, Turn.ASKED, Turn.TOOL_DONE})
OURS = re.compile(r'(?:also edited by \S+.*: "?/.*|also at work in .+: \S+.*)')


def notice(draft: Draft, id: SessionId | None, report: Report, now: float) -> None:
    """What a report of that session tells of where it works."""
    session = draft.sessions.get(id) if id is not None else None
    if session is None or not session.is_open or session.process is None:
        return  # whether it lives is not known
    if report.says in BETWEEN_TURNS:
        draft.traces.drop_wishes(session.id)
    file = report.edits or (report.would_edit if _may_edit(draft, session, report) else None)
    edited_at = min(report.at, now) if file else 0.0
    if file:
        place = EditPlace("same-file", file)
        note = draft.traces.made if report.edits else draft.traces.wish
        note(place, session.id)
        _meet(draft, session, place, edited_at, now)
    if report.worktree is not None and (file or report.says in WORKING_TURNS):
        _meet(draft, session, _place(report.worktree), edited_at if report.edits else 0.0, now)


def _may_edit(draft: Draft, session: Session, report: Report) -> bool:
    """Whether nobody else has claimed the file that it is about to edit."""
    if report.would_edit is None or session.process is None:
        return False
    return not others_in_the_way(draft, Item(f"path:{report.would_edit}"), session.process)


def clear_alarms(draft: Draft, now: float) -> None:
    """Clears the alarms of those who no longer meet. Cheap: it looks at raised alarms only."""
    traces = draft.traces
    for id in [id for id in traces.wishes if not _is_open(draft, id)]:
        traces.drop_wishes(id)
    for key, pair in list(traces.pairs.items()):
        if _still_meet(draft, pair, now):
            _forget_old_edits(draft, pair, now)
            continue
        for id, text in zip(pair.sessions, pair.texts, strict=True):
            _clear(draft, id, pair, text, now)
        del traces.pairs[key]


def _is_open(draft: Draft, id: SessionId) -> bool:
    session: Session | None = draft.sessions.get(id)
    return session is not None and session.is_open


def forget(draft: Draft, now: float) -> None:
    """Alarms from before a restart: nobody remembers what they stood on."""
    for session in list(draft.sessions.values()):
        kept = tuple(alarm for alarm in session.alarms if OURS.fullmatch(alarm) is None)
        if kept != session.alarms:
            draft.emit(EventType.ALARM_CLEARED, now, session.id, alarms=kept)


def next_expiry(world: World) -> float | None:
    """When an alarm of an edit will be old."""
    times = [
        at + COLLISION_WITHIN
        for pair in world.traces.pairs.values()
        for id in pair.sessions
        if (at := world.traces.places.get(pair.place, {}).get(id, 0.0))
    ]
    return min(times, default=None)


def _meet(draft: Draft, session: Session, place: EditPlace, edited_at: float, now: float) -> None:
    draft.traces.note(place, session.id, edited_at)
    for other_id, at in draft.traces.places[place].items():
        other = draft.sessions.get(other_id)
        if other is None or not other.is_open:
            draft.traces.set(place, other_id, None)
        elif (
            other_id != session.id
            and _is_there(other, place, at, now)
            and not _are_kin(draft, session, other)
        ):
            _raise(draft, place, session, other, now)


def _is_there(session: Session, place: EditPlace, edited_at: float, now: float) -> bool:
    """It edited there lately; in a worktree it is enough to be in the middle of a turn."""
    if now - edited_at < COLLISION_WITHIN:
        return True
    return place.kind == "same-worktree" and session.activity.doing in AT_WORK


def _still_meet(draft: Draft, pair: Pair, now: float) -> bool:
    seen = draft.traces.places.get(pair.place, {})
    both = [draft.sessions.get(id) for id in pair.sessions]
    return all(
        session is not None
        and session.is_open
        and session.id in seen
        and _is_there(session, pair.place, seen[session.id], now)
        for session in both
    )


def _forget_old_edits(draft: Draft, pair: Pair, now: float) -> None:
    """Who still meets by being at work has no edit that could expire."""
    seen = draft.traces.places[pair.place]
    for id in pair.sessions:
        if seen[id] and now - seen[id] >= COLLISION_WITHIN:
            draft.traces.set(pair.place, id, 0.0)


def _are_kin(draft: Draft, one: Session, other: Session) -> bool:
    return one.process == other.process or _is_below(draft, one, other) or _is_below(draft, other, one)


def _is_below(draft: Draft, child: Session, above: Session) -> bool:
    seen: set[SessionId] = set()
    parent = child.parent
    while parent is not None and parent not in seen:
        if parent == above.id:
            return True
        seen.add(parent)
        found = draft.sessions.get(parent)
        if found is not None and found.process is not None and found.process == above.process:
            return True
        parent = found.parent if found is not None else None
    return False


def _raise(draft: Draft, place: EditPlace, session: Session, other: Session, now: float) -> None:
    first, second = sorted((session, other), key=lambda each: each.id)
    key = (place, first.id, second.id)
    pair = draft.traces.pairs.get(key)
    if pair is None:
        texts = (_text(place, second), _text(place, first))
        pair = draft.traces.pairs[key] = Pair(place, (first.id, second.id), texts)
    for id, text in zip(pair.sessions, pair.texts, strict=True):
        alarms = draft.sessions[id].alarms
        if text not in alarms:
            draft.emit(EventType.ALARM_RAISED, now, id, facts=_facts(pair, text), alarms=(*alarms, text))


def _clear(draft: Draft, id: SessionId, pair: Pair, text: str, now: float) -> None:
    session = draft.sessions.get(id)
    if session is None or text not in session.alarms:
        return
    kept = tuple(alarm for alarm in session.alarms if alarm != text)
    draft.emit(EventType.ALARM_CLEARED, now, id, facts=_facts(pair, text), alarms=kept)


def _facts(pair: Pair, text: str) -> dict[str, object]:
    return {
        "kind": pair.place.kind,
        "path": pair.place.path,
        "branch": pair.place.branch,
        "sessions": list(pair.sessions),
        "alarm": text,
    }


def _text(place: EditPlace, other: Session) -> str:
    who = f"{other.id[:4]} {said(other.name or other.agent)}"
    if place.kind == "same-file":
        return f"also edited by {who}: {said(place.path, ITEM_MOST)}"
    name = f"{place.name}@{place.branch}" if place.branch else place.name
    return f"also at work in {said(name)} ({said(place.path, ITEM_MOST)}): {who}"


def _place(worktree: Worktree) -> EditPlace:
    return EditPlace("same-worktree", worktree.top, worktree.branch, worktree.name)
