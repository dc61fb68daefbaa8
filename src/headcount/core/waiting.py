"""Waiting: who gets an item when it becomes free, and who must go on waiting.

Rules of this file
  1. In order of arrival. Nobody overtakes a living waiter that wants something of the same.
  2. Whoever is proved dead is skipped and dropped; whoever cannot be proved is passed over, keeps the
     place, and is looked at again soon.
  3. A waiter has a deadline, and at it the answer is who holds the item.

Not here: what a grant is (granting.py), who is proved before (proving.py).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from headcount.core.book import Waiter
from headcount.core.claim import Accepted, Answer, Claim, Held, Refused, Waiting
from headcount.core.commands import Acquire, Withdraw
from headcount.core.granting import closed, grant, others_in_the_way, refuse
from headcount.core.identity import Match, ProcessIdentity, same_process
from headcount.core.item import Item, is_path, overlaps
from headcount.core.verdict import Standing
from headcount.core.world import Draft, World
from headcount.times import WAITER_LOOKED_AT_AGAIN

REUSED = Refused("request-reused", "That request id was used for another claim. Each takes a new one.")


def enqueue(draft: Draft, asks: Acquire, process: ProcessIdentity) -> Waiting | Refused:
    """A retry of one that waits keeps its place."""
    waiter = draft.page.waiter(asks.request)
    if waiter is None:
        draft.page.enqueue(asks)
    elif waiter.asks.item != asks.item or same_process(waiter.process, process) is not Match.SAME:
        return REUSED
    return Waiting(asks.request)


def ahead_of(draft: Draft, item: Item, process: ProcessIdentity) -> list[Waiter]:
    """Living others that came earlier for something of the same."""
    return [
        waiter
        for waiter in draft.page.waiters_of(item)
        if same_process(waiter.process, process) is not Match.SAME
        and draft.verdict(waiter.process).standing is not Standing.DEAD
        and waiter.retry_at is None
    ]


def held(draft: Draft, item: Item, process: ProcessIdentity, but: str | None = None) -> Held:
    """Who is in the way of that process, told to it."""
    before = [each for each in draft.page.waiters_of(item) if each.asks.request != but]
    in_the_way: list[Claim] = others_in_the_way(draft, item, process)
    if not in_the_way:
        in_the_way = [claim for each in before for claim in draft.page.in_the_way(each.asks.item)]
    return Held(in_the_way[0] if in_the_way else None, len(before))


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
    if others_in_the_way(draft, item, process) or any(_before(each, waiter) for each in passed):
        return False
    if closed(draft, waiter.asks) is not None:
        return False
    if refuse(draft, process) is not None:
        draft.page.requeue(waiter, replace(waiter, retry_at=now + WAITER_LOOKED_AT_AGAIN))
        return True
    draft.page.answer(waiter, grant(draft, waiter.asks, now))
    draft.count("claims_granted_after_waiting")
    return True


def _before(other: Waiter, waiter: Waiter) -> bool:
    mine = same_process(other.process, waiter.process) is Match.SAME
    return not mine and overlaps(other.asks.item, waiter.asks.item)


def _gone(draft: Draft, process: ProcessIdentity) -> Refused:
    refused = refuse(draft, process)
    assert refused is not None
    return refused


def look_again(draft: Draft, now: float) -> None:
    """Time went by: deadlines, and those that could not be proved before."""
    for waiter in draft.page.all_waiters():
        assert waiter.asks.wait_until is not None
        if waiter.asks.wait_until <= now:
            answer: Answer = held(draft, waiter.asks.item, waiter.process, but=waiter.asks.request)
            if not others_in_the_way(draft, waiter.asks.item, waiter.process):
                answer = closed(draft, waiter.asks) or answer
            draft.page.answer(waiter, answer)
            draft.page.freed.append(waiter.asks.item)  # who stood behind this one may be free to go
        elif waiter.retry_at is not None and waiter.retry_at <= now:
            draft.page.requeue(waiter, replace(waiter, retry_at=None))
            draft.page.freed.append(waiter.asks.item)


def withdraw(draft: Draft, command: Withdraw, now: float) -> Answer:
    """A waiter that no longer listens gives its place up. What was granted meanwhile stays granted."""
    waiter = draft.page.waiter(command.request)
    if waiter is not None:
        draft.page.dequeue(waiter)
        draft.page.freed.append(waiter.asks.item)  # who stood behind this one may be free to go
    return Accepted()


def next_look(world: World) -> float | None:
    return min((waiter.next_look() for waiter in world.book.waiters()), default=None)
