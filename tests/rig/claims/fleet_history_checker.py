"""Is the ledger's own journal an order in which everybody was rightly answered?

Rules of this file
  1. A shared ledger writes down each grant and each end, item by item, in the order in which they took effect. That
     order is the witness: the history is linearizable if moments can be found for the rows of the journal, in that
     order, at which each answer was true between its call and its answer. No search is needed, and calls without an
     answer need none: what came of them is in the journal.
  2. An answer that speaks of a fence which the journal does not know is a fault by itself.
  3. `outdated` needs no journal: a fence that was called current after a higher one had been granted.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from tests.rig.claims.history_checker import Does, Operation, Says


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the journal, in order."""

    item: str
    granted: bool
    fence: int
    holder: str


@dataclass(slots=True)
class Moment:
    """When an entry took effect: not before, not after."""

    earliest: float = -inf
    latest: float = inf


@dataclass(slots=True)
class _Tenure:
    holder: str
    began: Moment = field(default_factory=Moment)
    ended: Moment = field(default_factory=Moment)


def unexplained(journal: Iterable[Entry], history: Iterable[Operation]) -> list[str]:
    """What the journal cannot explain, in words; empty: it is a linearization of the history."""
    lines: dict[str, list[Moment]] = defaultdict(list)
    tenures: dict[str, dict[int, _Tenure]] = defaultdict(dict)
    faults = []
    for entry in journal:
        known = tenures[entry.item]
        if entry.granted:
            if any(fence >= entry.fence for fence in known):
                faults.append(f"{entry.item}: fence {entry.fence} did not grow")
            known[entry.fence] = _Tenure(entry.holder)
            lines[entry.item].append(known[entry.fence].began)
        else:
            lines[entry.item].append(known[entry.fence].ended)
    said = [op for op in history if op.says is not Says.NOTHING]
    for op in said:
        if not _bounded(op, tenures[op.item]):
            faults.append(f"{op.item}: {op.does.value} {op.says.value} {op.fence} is in no journal")
    for item, moments in lines.items():
        if not _is_possible(moments):
            faults.append(f"{item}: no moments fit all answers")
    faults += [
        f"{op.item}: {op.holder} never held it then" for op in said if not _was_held(op, tenures[op.item])
    ]
    return faults


def _bounded(op: Operation, tenures: dict[int, _Tenure]) -> bool:
    """Narrows the moments of what the answer speaks of; false: there is no such thing."""
    if op.does is Does.ACQUIRE and op.says is Says.HELD:
        return True
    if op.fence is None or op.fence not in tenures:
        return False
    tenure = tenures[op.fence]
    if tenure.holder != op.process:
        return False
    if op.says in (Says.GRANTED, Says.CURRENT):
        tenure.began.latest = min(tenure.began.latest, op.answered)
        tenure.ended.earliest = max(tenure.ended.earliest, op.called)
    elif op.says is Says.RELEASED:
        tenure.ended.earliest = max(tenure.ended.earliest, op.called)
        tenure.ended.latest = min(tenure.ended.latest, op.answered)
    elif op.says in (Says.STALE, Says.GONE):
        tenure.ended.latest = min(tenure.ended.latest, op.answered)
    return True


def _is_possible(moments: list[Moment]) -> bool:
    """Moments in the journal's order, each within its bounds; the narrowed bounds stay in place."""
    floor = -inf
    for moment in moments:
        floor = moment.earliest = max(floor, moment.earliest)
        if floor > moment.latest:
            return False
    ceiling = inf
    for moment in reversed(moments):
        ceiling = moment.latest = min(ceiling, moment.latest)
    return True


def _was_held(op: Operation, tenures: dict[int, _Tenure]) -> bool:
    """The holder that a refusal named held it at some moment of the call."""
    if op.says is not Says.HELD or op.holder is None:
        return True
    return any(
        tenure.holder == op.holder
        and tenure.began.earliest <= op.answered
        and tenure.ended.latest >= op.called
        for tenure in tenures.values()
    )


def outdated(history: Iterable[Operation]) -> list[str]:
    """Two who are both told that they hold it."""
    ops = list(history)
    grants: dict[str, list[Operation]] = defaultdict(list)
    for op in ops:
        if op.says is Says.GRANTED:
            grants[op.item].append(op)
    return [
        f"{op.item}: {op.fence} of {op.process} was called current after {other.fence} was {other.process}'s"
        for op in ops
        if op.says is Says.CURRENT and op.fence is not None
        for other in grants[op.item]
        if other.fence is not None and other.fence > op.fence and other.answered < op.called
    ][:20]
