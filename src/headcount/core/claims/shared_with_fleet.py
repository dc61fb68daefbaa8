"""Shared claims: the rules of the ledger on a row that another place keeps, and our own mirror of it.

Rules
  1. What is decided about a shared item is decided by the one ledger (ledger.py), on a book of that item alone.
     Whoever keeps the row calls this while it holds the row's lock, and stores what comes of it.
  2. Our own book mirrors what the shared ledger gave to processes of this host, and nothing else. A mirror
     grants nothing: it is what a death frees, and what people see.
  3. News that is older than the mirror changes nothing.

Not here: the shared rows (store/), leases of hosts (daemon/), how the freeing reaches the others (daemon/).
"""

from msgspec import Struct

from headcount.core.claims.grants import free
from headcount.core.claims.ledger import acquire, free_all_of, hand_off, release
from headcount.core.claims.queue import withdraw
from headcount.core.state.claims import AnsweredRequest, ClaimsDraft, ClaimsState
from headcount.core.state.world import Draft, Verdicts, World
from headcount.core.values.claim import (
    Accepted,
    Acquire,
    Answer,
    Claim,
    Freed,
    Granted,
    HandOff,
    Release,
    SharedFreed,
    SharedGranted,
    Withdraw,
)
from headcount.core.values.claim import freed as ended
from headcount.core.values.events import EventType, Watch
from headcount.core.values.item import is_shared
from headcount.core.values.verdict import Standing

SharedCommand = Acquire | Release | HandOff | Withdraw


class SharedItem(Struct, frozen=True):
    """What the shared ledger knows of one item, read under its lock."""

    claim: Claim | None = None
    request: AnsweredRequest | None = None
    ahead: tuple[Acquire, ...] = ()  # who waits for it and came earlier
    ours: bool = False  # its holder is a process of this host; of others' nothing can be proved here


class SharedDecision(Struct, frozen=True):
    """What is to be stored and answered. The fence of a new grant is the keeper's to give."""

    answer: Answer
    freed: Claim | None = None  # it ended by this
    granted: Claim | None = None  # it began by this
    remembered: AnsweredRequest | None = None
    forgotten: bool = False  # the request may be asked again as a new one


def decide_shared(
    world: World, known: SharedItem, command: SharedCommand, now: float, verdicts: Verdicts
) -> SharedDecision:
    """By our own world's sessions and proofs, on that item's row. Nothing of our own book is changed."""
    draft = world.draft(verdicts, _book(known, world.book))
    if known.ours:
        _bury_holder(draft, known.claim, now)
    answer = _decided(draft, command, now)
    events = draft.decision.events
    freed = [each for each in events if each.type is EventType.CLAIM_RELEASED]
    granted = [each.claim for each in events if each.type is EventType.CLAIM_GRANTED]
    return SharedDecision(
        answer,
        _ended(freed[-1].claim, Freed(freed[-1].facts["because"]), now) if freed else None,
        granted[-1] if granted else None,
        next(iter(draft.page.entries.requests.values()), None),
        bool(draft.page.entries.forgotten),
    )


def _ended(claim: Claim | None, because: Freed, at: float) -> Claim:
    assert claim is not None
    return ended(claim, because, at)


def _book(known: SharedItem, own: ClaimsState) -> ClaimsState:
    """The item's row, and what our own book knows of others who were answered with it."""
    claims = [known.claim] if known.claim is not None else []
    ids = {id for claim in claims for id in (claim.request, *own.told.get(claim.fence, ()))}
    requests = [own.requests[id] for id in ids if id in own.requests]
    book = ClaimsState(claims, [*requests, *([known.request] if known.request else [])])
    page = ClaimsDraft(book)
    for asks in known.ahead:
        page.enqueue(asks)
    page.settle()
    return book


def _bury_holder(draft: Draft, claim: Claim | None, now: float) -> None:
    """A holder of ours that was just proved dead: its death is on its way to the ledger."""
    holder = claim.holder if claim is not None else None
    if holder is not None and draft.verdict(holder).standing is Standing.DEAD:
        free_all_of(draft, holder, now)


def _decided(draft: Draft, command: SharedCommand, now: float) -> Answer:
    if isinstance(command, Acquire):
        return acquire(draft, command, now)
    if isinstance(command, Release):
        return release(draft, command, now)
    if isinstance(command, Withdraw):
        return withdraw(draft, command, now)
    return hand_off(draft, command, now)


# --- the mirror --------------------------------------------------------------------------------------


def mirror_granted(draft: Draft, told: SharedGranted, now: float) -> Answer:
    claim = told.claim
    known: Claim | None = draft.page.claims.get(claim.item)
    assert claim.holder is not None
    if told.request is not None:
        draft.page.remember(told.request, claim, now, retold=told.retold)
    if known is not None and known.fence >= claim.fence:
        return Granted(claim, again=told.again)
    if known is not None and known.is_held:  # it was lost before this, and we had not heard
        free(draft, known, Freed.LEASE_LOST, now)
    draft.emit_claim(EventType.CLAIM_GRANTED, now, claim)
    draft.decision.effects.append(Watch(claim.holder))
    draft.count("claims_granted")
    return Granted(claim, again=told.again)


def mirror_freed(draft: Draft, told: SharedFreed, now: float) -> Answer:
    known: Claim | None = draft.page.claims.get(told.item)
    if known is not None and known.is_held and known.fence == told.fence:
        free(draft, known, told.because, now, told.by)
    return Accepted()


def mirrored(world: World) -> list[Claim]:
    """What processes of this host hold of the shared ledger, as far as we were told."""
    return [claim for claim in world.book.holding() if is_shared(claim.item)]
