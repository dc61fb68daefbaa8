"""Proving: those on whose liveness a batch turns are asked before it is decided.

Rules
  1. Whoever asks, whoever is in the way and whoever waits for the same is asked first: a dead holder is in nobody's
     way. A batch of mere reports asks nobody.
  2. What that brings to light may turn on others: a death that shows by asking frees all that the dead one held, and
     somebody waits for that. They are asked then, and it is decided anew: nobody is passed over unasked.

Not here: what is decided (decide.py), how a process is asked (system/processes).
"""

from collections.abc import Callable, Iterable, Sequence

from headcount.core.decide import Outcome, decide
from headcount.core.state.claims import ClaimsDraft
from headcount.core.state.world import Draft, World
from headcount.core.values.claim import Acquire, HandOff, Release, Withdraw
from headcount.core.values.evidence import Evidence, Judged, Tick
from headcount.core.values.leftover import Left, LeftoverGone
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict

TURN_ON_IT: frozenset[type] = frozenset({Acquire, HandOff, Release, Withdraw, Tick, Left, LeftoverGone})
"""Evidence that may turn on whether somebody lives; beside a death."""

Prove = Callable[[ProcessIdentity], Verdict]


def decide_proved(
    world: World, batch: Sequence[Evidence], now: float, prove: Prove
) -> tuple[Draft, list[Outcome]]:
    """As `decide`, with whatever it takes proved."""
    proved: dict[ProcessIdentity, Verdict] = {}
    unasked = _foreseen(world, batch)
    while True:
        proved |= {process: prove(process) for process in unasked}
        draft, outcomes = decide(world, batch, now, proved)
        unasked = draft.unasked
        if not unasked:
            return draft, outcomes


def _foreseen(world: World, batch: Iterable[Evidence]) -> set[ProcessIdentity]:
    """On whose liveness the batch may turn, as far as can be seen without deciding it."""
    found: set[ProcessIdentity | None] = set()
    page = None
    for each in batch:
        if type(each) in TURN_ON_IT or (isinstance(each, Judged) and each.verdict.standing is Standing.DEAD):
            page = page or ClaimsDraft(world.book)
            found |= _foreseen_of(world, page, each)
    return {process for process in found if process is not None}


def _foreseen_of(world: World, page: ClaimsDraft, each: Evidence) -> set[ProcessIdentity | None]:
    if isinstance(each, Tick | Left | LeftoverGone) or _is_left(world, each):  # what stayed closed may open
        return {waiter.process for waiter in world.book.waiters()}
    if isinstance(each, Judged):
        return {w.process for item in world.book.items_of(each.process) for w in page.waiters_of(item)}
    if isinstance(each, Withdraw):
        item = world.book.asked.get(each.request) or each.item
        return {waiter.process for waiter in page.waiters_of(item)} if item else set()
    assert isinstance(each, Acquire | HandOff | Release)
    found: set[ProcessIdentity | None] = {waiter.process for waiter in page.waiters_of(each.item)}
    found.add(each.caller.process)
    if isinstance(each, HandOff) and each.to in world.sessions:
        found.add(world.sessions[each.to].process)
    if isinstance(each, Acquire):
        found |= {claim.holder for claim in page.in_the_way(each.item)}
    return found


def _is_left(world: World, each: Evidence) -> bool:
    return isinstance(each, Judged) and each.process.pid in world.remains.by_pid
