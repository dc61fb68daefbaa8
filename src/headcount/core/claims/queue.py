"""Waiting: who gets an item when it becomes free, and who must go on waiting.

Rules
  1. In order of arrival. Nobody overtakes a living waiter that wants something of the same, but whoever holds what
     that one waits for.
  2. Whoever is proved dead is skipped and dropped; whoever cannot be proved is passed over, keeps the
     place, and is looked at again soon.
  3. A waiter has a deadline, and at it the answer is who holds the item.

Not here: what a grant is (grants.py), who is proved before (core/liveness_proofs.py).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from headcount.core.claims.grants import (
    claim_above,
    closed,
    free,
    full,
    grant,
    others_in_the_way,
    own_claim,
    refuse,
)
from headcount.core.state.claims import Waiter
from headcount.core.state.world import Draft, World
from headcount.core.values.claim import (
    Accepted,
    Acquire,
    Answer,
    Claim,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Released,
    Waiting,
    Waits,
    Withdraw,
)
from headcount.core.values.events import Watch
from headcount.core.values.item import Item, is_path, overlaps
from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.verdict import Standing
from headcount.times import WAITER_LOOKED_AT_AGAIN

REUSED = ClaimRefused("request-reused", "That request id was used for another claim. Each takes a new one.")
WITHDRAWN = ClaimRefused("request-withdrawn", "That request was withdrawn. Ask again with a new request id.")


def is_its_own(draft: Draft, asks: Acquire, process: ProcessIdentity) -> bool:
    """Whether nobody waits by that request id, or this very question does."""
    waiter = draft.page.waiter(asks.request)
    return waiter is None or (
        waiter.asks.item == asks.item and same_process(waiter.process, process) is Match.SAME
    )


def enqueue(draft: Draft, asks: Acquire, process: ProcessIdentity) -> Waiting:
    """A retry of one that waits keeps its place."""
    waiter = draft.page.waiter(asks.request)
    if waiter is None:
        draft.page.enqueue(asks)
        draft.decision.effects.append(Watch(process))
    else:
        draft.page.requeue(waiter, replace(waiter, retold=True))
    return Waiting(asks.request)


def ahead_of(draft: Draft, item: Item, process: ProcessIdentity) -> list[Waiter]:
    """Living others that came earlier for something of the same. Not those who wait for what the process itself
    holds: whoever waited for them would wait for itself."""
    return [
        waiter
        for waiter in draft.page.waiters_of(item)
        if same_process(waiter.process, process) is not Match.SAME
        and waiter.retry_at is None
        and not _waits_for(draft, waiter, process)
        and draft.verdict(waiter.process).standing is not Standing.DEAD
    ]


def _waits_for(draft: Draft, waiter: Waiter, process: ProcessIdentity) -> bool:
    return any(claim.is_held_by(process) for claim in draft.page.in_the_way(waiter.asks.item))


def held(draft: Draft, item: Item, process: ProcessIdentity, ahead: list[Waiter]) -> Held:
    """Who is in the way of that process, told to it."""
    in_the_way = others_in_the_way(draft, item, process)
    first = ahead[0] if ahead and not in_the_way else None
    return Held(
        in_the_way[0] if in_the_way else None,
        len(ahead),
        Waits(first.asks.item, first.process, first.asks.caller.session) if first else None,
    )


def serve(draft: Draft, now: float) -> None:
    """After something became free: everybody who can have what they wait for gets it, in order."""
    while draft.page.freed:
        freed, draft.page.freed = draft.page.freed, []
        passed: list[Waiter] = []
        for waiter in _affected(draft, freed):
            if not _served(draft, waiter, passed, now):
                passed.append(waiter)


def _affected(draft: Draft, freed: Iterable[Item]) -> list[Waiter]:
    found = {waiter.arrival: waiter for item in freed for waiter in draft.page.waiters_of(item)}
    if any(is_path(item) for item in freed):  # one that waits for a wider path may stand before another
        found |= {each.arrival: each for each in draft.page.all_waiters() if is_path(each.asks.item)}
    return [found[arrival] for arrival in sorted(found)]


def _served(draft: Draft, waiter: Waiter, passed: list[Waiter], now: float) -> bool:
    """Whether the waiter no longer stands in anybody's way."""
    item, process = waiter.asks.item, waiter.process
    if draft.verdict(process).standing is Standing.DEAD:
        draft.page.answer(waiter, _gone(draft, process))
        return True
    in_the_way = others_in_the_way(draft, item, process)
    over = claim_above(waiter.asks, in_the_way)
    if over is not None:
        draft.page.answer(waiter, Granted(over, again=True, under=True))
        return True
    is_mine = own_claim(draft, item, process) is not None
    if not is_mine and (in_the_way or any(_before(draft, each, waiter) for each in passed)):
        return False
    if not is_mine and closed(draft, waiter.asks) is not None:
        return False
    if refuse(draft, process) is not None:
        draft.page.requeue(waiter, replace(waiter, retry_at=now + WAITER_LOOKED_AT_AGAIN))
        return True
    refused = None if is_mine else full(draft, process)
    draft.page.answer(waiter, refused or grant(draft, waiter.asks, now, waiter.retold))
    draft.count("claims_refused" if refused else "claims_granted_after_waiting")
    return True


def _before(draft: Draft, other: Waiter, waiter: Waiter) -> bool:
    if same_process(other.process, waiter.process) is Match.SAME:
        return False
    return overlaps(other.asks.item, waiter.asks.item) and not _waits_for(draft, other, waiter.process)


def _gone(draft: Draft, process: ProcessIdentity) -> ClaimRefused:
    refused = refuse(draft, process)
    assert refused is not None
    return refused


def look_again(draft: Draft, now: float) -> None:
    """Time went by: deadlines, and those that could not be proved before."""
    for waiter in draft.page.all_waiters():
        assert waiter.asks.wait_until is not None
        if waiter.asks.wait_until <= now:
            draft.page.answer(waiter, _last_word(draft, waiter))
            draft.page.freed.append(waiter.asks.item)  # who stood behind this one may be free to go
        elif waiter.retry_at is not None and waiter.retry_at <= now:
            draft.page.requeue(waiter, replace(waiter, retry_at=None))
            draft.page.freed.append(waiter.asks.item)


def _last_word(draft: Draft, waiter: Waiter) -> Answer:
    """Why it waited in vain."""
    item, process = waiter.asks.item, waiter.process
    before = [each for each in ahead_of(draft, item, process) if each.arrival < waiter.arrival]
    if before or others_in_the_way(draft, item, process):
        return held(draft, item, process, before)
    return closed(draft, waiter.asks) or refuse(draft, process) or held(draft, item, process, before)


def leave(draft: Draft, process: ProcessIdentity) -> None:
    """It is over, and stands in nobody's way any more."""
    for waiter in draft.page.all_waiters():
        if same_process(waiter.process, process) is Match.SAME:
            draft.page.answer(waiter, _gone(draft, process))
            draft.page.freed.append(waiter.asks.item)


def withdraw(draft: Draft, command: Withdraw, now: float) -> Answer:
    """Its place in line and the claim that it was granted are given back. That claim stays held while another request of
    the holder was answered with it (`again`), and goes with the last of those; so does what a retry was told of."""
    request, caller = command.request, command.caller
    waiter = draft.page.waiter(request)
    known = draft.page.requests.get(request)
    asker = waiter.process if waiter else known.claim.holder if known and known.claim else None
    if caller is not None and asker is not None and not _is_same(caller.process, asker):
        return ClaimRefused("not-yours", "That request is of another process.")
    if caller is None and waiter is None and known is not None and (known.retold or known.is_withdrawn):
        return Accepted()
    if waiter is not None:
        draft.page.answer(waiter, WITHDRAWN)
        draft.page.freed.append(waiter.asks.item)  # who stood behind this one may be free to go
    claim: Claim | None = draft.page.claims.get(known.claim.item) if known and known.claim else None
    if claim is not None and not (claim.is_held and claim.fence == known.claim.fence):
        claim = None  # it ended before
    others = [each for each in draft.page.told(claim) if each != request] if claim else []
    if caller is not None:
        draft.page.remember(request, None, now)
    elif others:
        draft.page.remember(request, known.claim, now, lost=True)
    elif known is not None:
        draft.page.forget(request)
    if claim is None or others or not (claim.request == request or _is_withdrawn(draft, claim.request)):
        return Accepted()
    free(draft, claim, Freed.WITHDRAWN, now)
    return Released(claim, Freed.WITHDRAWN)


def _is_withdrawn(draft: Draft, request: str | None) -> bool:
    known = draft.page.requests.get(request)
    return known is not None and known.is_withdrawn


def _is_same(process: ProcessIdentity | None, other: ProcessIdentity) -> bool:
    return process is not None and same_process(process, other) is Match.SAME


def next_look(world: World) -> float | None:
    return min((waiter.next_look() for waiter in world.book.waiters()), default=None)
