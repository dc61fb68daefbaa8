"""The ledger: acquire, release, hand off, and what a death frees.

Rules
  1. Only acquiring and handing off make a holder; nothing else does, and nobody becomes one by a name,
     a conversation, a terminal or a directory.
  2. Only the holder releases, with the fence it has, or the operator by force, and that is told.
  3. The death of a process frees all that it holds. Doubt frees nothing, and time frees nothing.
  4. Claims on different items never touch each other.

Not here: who is alive (core/values/verdict.py), the grant itself (grants.py), the order of waiters (queue.py).
"""

from headcount.core.claims.grants import (
    claim_above,
    closed,
    free,
    full,
    give,
    grant,
    is_above,
    others_in_the_way,
    own_claim,
    refuse,
)
from headcount.core.claims.queue import REUSED, WITHDRAWN, ahead_of, enqueue, held, is_its_own
from headcount.core.state.world import Draft
from headcount.core.values.claim import (
    Accepted,
    AcceptLoss,
    Acquire,
    Answer,
    Caller,
    CallerKind,
    Claim,
    ClaimRefused,
    Freed,
    Granted,
    HandOff,
    Held,
    Release,
    Released,
)
from headcount.core.values.events import EventType
from headcount.core.values.process import Match, ProcessIdentity, same_process

NOT_AN_AGENT = ClaimRefused(
    "not-an-agent", "No agent is above this process, so there is nobody to hold a claim."
)
OPERATOR_ONLY = ClaimRefused("operator-only", "Releasing by force is for people.")


def acquire(draft: Draft, asks: Acquire, now: float) -> Answer:
    answer = _acquire(draft, asks, now)
    waiter = draft.page.waiter(asks.request)
    if isinstance(answer, Granted) and waiter is not None:
        draft.page.answer(waiter, answer)  # it waited by this very request: one question, one answer
    if isinstance(answer, ClaimRefused):
        draft.count("claims_refused")
    elif isinstance(answer, Held):
        draft.count("claims_held")
    return answer


def _acquire(draft: Draft, asks: Acquire, now: float) -> Answer:
    process = asks.caller.process
    if process is None:
        return NOT_AN_AGENT
    refused = _not_now(draft, asks) or refuse(draft, process)
    if refused is not None:
        return refused
    if asks.request in draft.page.requests and not _is_lost(draft, asks, process):
        return _asked_again(draft, asks, process, now)
    if not is_its_own(draft, asks, process):
        return REUSED
    in_the_way = others_in_the_way(draft, asks.item, process)
    over = claim_above(asks, in_the_way)
    if over is not None:
        return Granted(over, again=True, under=True)
    is_mine = own_claim(draft, asks.item, process) is not None
    if not is_mine and (refused := full(draft, process)) is not None:
        return refused
    shut = None if in_the_way or is_mine else closed(draft, asks)
    ahead = [] if is_mine else ahead_of(draft, asks.item, process)
    if not in_the_way and shut is None and not ahead:
        return grant(draft, asks, now)
    if asks.wait_until is not None and asks.wait_until > now:
        return enqueue(draft, asks, process)
    return shut or held(draft, asks.item, process, ahead)


def _not_now(draft: Draft, asks: Acquire) -> ClaimRefused | None:
    if draft.page.loss is not None:
        return ClaimRefused(
            "loss-not-accepted",
            "A store was lost, and with it who holds what; living holders may not be known. "
            "The operator accepts that with: headcount claims --accept-loss",
        )
    return None


def _is_lost(draft: Draft, asks: Acquire, process: ProcessIdentity) -> bool:
    """Its caller disconnected before it had the answer, and asks the same as a new question."""
    known = draft.page.requests[asks.request]
    was = known.claim if known.lost else None
    return was is not None and was.item == asks.item and was.is_held_by(process)


def _asked_again(draft: Draft, asks: Acquire, process: ProcessIdentity, at: float) -> Answer:
    """The same question: the same answer, as long as it is true."""
    was: Claim | None = draft.page.requests[asks.request].claim
    if was is None:
        return WITHDRAWN
    if was.item != asks.item or was.holder is None or not was.is_held_by(process):
        draft.count("inheritance_refused")
        return REUSED
    now: Claim = draft.page.claims[asks.item]
    if now.fence == was.fence and now.is_held:
        draft.page.remember(asks.request, was, at, retold=True)
        return Granted(now, again=True, retold=now.request == asks.request)
    return ClaimRefused(
        "request-over", f"That request was granted as {was.fence}, and that claim is over.", now
    )


def release(draft: Draft, asks: Release, now: float) -> Answer:
    claim: Claim | None = draft.page.claims.get(asks.item)
    if asks.force and asks.caller.kind is not CallerKind.OPERATOR:
        return OPERATOR_ONLY
    if claim is None or claim.holder is None:
        return _not_held(asks, claim)
    if asks.fence is not None and asks.fence != claim.fence:
        return ClaimRefused("stale", f"{asks.item} was granted again since as {claim.fence}.", claim)
    if asks.force:
        free(draft, claim, Freed.FORCED, now, by="operator")
        return Released(claim, Freed.FORCED)
    if claim.is_held_by(asks.caller.process):
        free(draft, claim, Freed.RELEASED, now)
        return Released(claim, Freed.RELEASED)
    if is_above(claim, asks.caller):
        return ClaimRefused(
            "not-yours", "It is the claim of the agent above, which alone releases it.", claim
        )
    return ClaimRefused("not-yours", f"{asks.item} is not yours.", claim)


def _not_held(asks: Release, claim: Claim | None) -> Answer:
    if claim is not None and asks.fence == claim.fence and claim.freed is not None:
        return Released(claim, claim.freed, again=True)
    return ClaimRefused("not-held", f"Nobody holds {asks.item}.", claim)


def hand_off(draft: Draft, asks: HandOff, now: float) -> Answer:
    claim: Claim | None = draft.page.claims.get(asks.item)
    if claim is None or claim.holder is None:
        return ClaimRefused("not-held", f"Nobody holds {asks.item}.", claim)
    if asks.fence is not None and asks.fence != claim.fence:
        return ClaimRefused("stale", f"{asks.item} was granted again since as {claim.fence}.", claim)
    if not claim.is_held_by(asks.caller.process):
        return ClaimRefused("not-yours", f"{asks.item} is not yours.", claim)
    heir = draft.sessions.get(asks.to)
    if heir is None or heir.process is None or not heir.is_open:
        return ClaimRefused("no-such-heir", "That session has no living process that could hold it.", claim)
    if same_process(heir.process, claim.holder) is Match.SAME:
        return Granted(claim, again=True)
    refused = refuse(draft, heir.process) or full(draft, heir.process)
    if refused is not None:
        return refused
    rest = [each for each in others_in_the_way(draft, asks.item, heir.process) if each.item != asks.item]
    if rest:
        return ClaimRefused("overlaps", f"{rest[0].item} overlaps it and stays with its holder.", rest[0])
    free(draft, claim, Freed.HANDED_OFF, now)
    return Granted(  # and whoever of the heir waits for it is answered when those who wait are looked at
        give(draft, asks.item, Caller(heir.process, heir.id), now, claim.note, None, claim.until_empty)
    )


def free_all_of(draft: Draft, process: ProcessIdentity, at: float) -> None:
    for claim in draft.page.held_by(process):
        free(draft, claim, Freed.DIED, at)


def accept_loss(draft: Draft, asks: AcceptLoss, now: float) -> Answer:
    if asks.caller.kind is not CallerKind.OPERATOR:
        return OPERATOR_ONLY
    if draft.page.loss is not None:
        draft.tell(EventType.LOSS_ACCEPTED, now, set_aside=draft.page.loss)
        draft.page.loss = None
        draft.page.entries.accepts_loss = True
    return Accepted()
