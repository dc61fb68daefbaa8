"""Proving: whose liveness a batch may turn on, asked just before it is decided.

Rules of this file
  1. A batch of mere reports asks nobody.
  2. Whoever asks, whoever is in the way and whoever waits for the same is asked. A death that shows by asking
     frees all that the dead one held, so those who wait for any of that are asked too, and so on.

Not here: what comes of it (ledger.py, waiting.py), how a process is asked (system/processes).
"""

from collections.abc import Callable, Iterable

from headcount.core.book import Page
from headcount.core.commands import Acquire, HandOff, Release, Withdraw
from headcount.core.evidence import Evidence, Judged, Tick
from headcount.core.identity import ProcessIdentity
from headcount.core.leftover import Gone, Left
from headcount.core.verdict import Standing, Verdict
from headcount.core.world import NOT_ASKED, Verdicts, World

TURN_ON_IT: frozenset[type] = frozenset({Acquire, HandOff, Release, Withdraw, Tick, Left, Gone})
"""Evidence that may turn on whether somebody lives; beside a death."""

Prove = Callable[[ProcessIdentity], Verdict]


def proofs(world: World, batch: Iterable[Evidence], prove: Prove) -> Verdicts:
    asked = _touched(world, batch)
    if not asked:
        return NOT_ASKED
    verdicts: dict[ProcessIdentity, Verdict] = {}
    while asked:
        proved = {process: prove(process) for process in asked}
        verdicts |= proved
        dead = [process for process, verdict in proved.items() if verdict.standing is Standing.DEAD]
        asked = _heirs(world, dead) - verdicts.keys() if dead else set()
    return verdicts


def _touched(world: World, batch: Iterable[Evidence]) -> set[ProcessIdentity]:
    found: set[ProcessIdentity | None] = set()
    page = None
    for each in batch:
        if type(each) in TURN_ON_IT:
            page = page or Page(world.book)
            found |= _touched_by(world, page, each)
        elif isinstance(each, Judged) and each.verdict.standing is Standing.DEAD:
            found |= _all_waiters(world) if _is_left(world, each) else _heirs(world, [each.process])
    return {process for process in found if process is not None}


def _touched_by(world: World, page: Page, each: Evidence) -> set[ProcessIdentity | None]:
    if isinstance(each, Tick | Left | Gone):  # what stayed closed may open
        return {*_all_waiters(world)}
    if isinstance(each, Withdraw):
        item = world.book.asked.get(each.request)
        return {waiter.process for waiter in page.waiters_of(item)} if item else set()
    assert isinstance(each, Acquire | HandOff | Release)
    found: set[ProcessIdentity | None] = {waiter.process for waiter in page.waiters_of(each.item)}
    if isinstance(each, HandOff) and each.to in world.sessions:
        found.add(world.sessions[each.to].process)
    if isinstance(each, Acquire):
        found |= {each.caller.process, *(claim.holder for claim in page.in_the_way(each.item))}
    return found


def _heirs(world: World, dead: Iterable[ProcessIdentity]) -> set[ProcessIdentity]:
    """Who waits for something that the dead held."""
    page = Page(world.book)
    items = (item for process in dead for item in world.book.items_of(process))
    return {waiter.process for item in items for waiter in page.waiters_of(item)}


def _all_waiters(world: World) -> set[ProcessIdentity]:
    return {waiter.process for waiter in world.book.waiters()}


def _is_left(world: World, judged: Judged) -> bool:
    return judged.process.pid in world.remains.by_pid
