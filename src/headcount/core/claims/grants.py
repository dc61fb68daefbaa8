"""Grants: the only place where a claim gets a holder (`give`) and loses it (`free`).

Rules
  1. Only a caller that is proved ALIVE now is granted anything. Doubt is refused, not granted.
  2. What overlaps and is held by another stands in the way; one's own claims never do.
  3. An item may stay closed after a death until nothing of the dead holder runs: when the holder asked for that, or
     when the asker does. As long as it was not searched for, something may.
  4. One process holds at most CLAIMS_MOST. What it holds already it may ask for again.
  5. The fence is bumped with the grant: each one is higher than all before, of any item.

Not here: who may release or hand off, and what a death frees (ledger.py); the order of waiters (queue.py).
"""

from headcount.core.state.world import Draft
from headcount.core.values.claim import Acquire, Caller, Claim, ClaimRefused, Freed, Granted
from headcount.core.values.events import EventType, Watch
from headcount.core.values.item import Item, covers, overlaps
from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.verdict import Standing

CLAIMS_MOST = 1_000  # of one process; each is a row that every listing shows


def refuse(draft: Draft, process: ProcessIdentity) -> ClaimRefused | None:
    """Why that process is granted nothing; None: it is proved alive."""
    if same_process(process, process) is not Match.SAME:
        return ClaimRefused(
            "unverified", f"pid {process.pid} cannot be told from a later process of that number."
        )
    verdict = draft.verdict(process)
    if verdict.standing is Standing.DEAD:
        return ClaimRefused("dead", f"pid {process.pid} is over: {verdict.because}.")
    if verdict.standing is Standing.UNKNOWN:
        return ClaimRefused("unverified", f"pid {process.pid} could not be proved alive: {verdict.because}.")
    return None


def full(draft: Draft, process: ProcessIdentity) -> ClaimRefused | None:
    """Why that process gets no further claim; None: it may."""
    if draft.holds(process) < CLAIMS_MOST:
        return None
    why = f"pid {process.pid} holds {CLAIMS_MOST} claims, the most that one process may. Release some first."
    return ClaimRefused("too-many-claims", why)


def others_in_the_way(draft: Draft, item: Item, process: ProcessIdentity) -> list[Claim]:
    return [claim for claim in draft.page.in_the_way(item) if not claim.is_held_by(process)]


def claim_above(asks: Acquire, in_the_way: list[Claim]) -> Claim | None:
    """The claim of an agent above the asker that covers all that is asked, if nobody else's is in the way."""
    if not all(is_above(claim, asks.caller) for claim in in_the_way):
        return None
    return next((claim for claim in in_the_way if covers(claim.item, asks.item)), None)


def is_above(claim: Claim, caller: Caller) -> bool:
    return any(claim.is_held_by(process) for process in caller.above)


def still_running(draft: Draft, item: Item) -> tuple[int, ...]:
    """Processes that the dead holders before left, and that may still write."""
    if not draft.remains.has_running:
        return ()
    left_by = (draft.left_by(claim) for claim in draft.page.last_of(item))
    left = (each for process in left_by if process is not None for each in draft.remains.running_of(process))
    return tuple(sorted({each.process.pid for each in left if each.process is not None}))


def closed(draft: Draft, asks: Acquire) -> ClaimRefused | None:
    """Why the item is not open although nobody holds it; None: it is."""
    wished = draft.page.last_of(asks.item) if asks.until_empty else []
    for claim in (
        *wished,
        *(draft.page.claims[each] for each in draft.page.closed if overlaps(each, asks.item)),
    ):
        process = draft.left_by(claim)
        if process is None or process.boot != draft.place.boot:
            continue
        left = draft.remains.running_of(process)
        if left or not draft.remains.is_searched(process):
            pids = ", ".join(str(each.process.pid) for each in left if each.process is not None)
            running = (
                f"of its dead holder still run: {pids}" if pids else "of its dead holder are being looked for"
            )
            return ClaimRefused("still-running", f"{claim.item} stays closed: processes {running}.", claim)
    return None


def own_claim(draft: Draft, item: Item, process: ProcessIdentity) -> Claim | None:
    claim: Claim | None = draft.page.claims.get(item)
    return claim if claim is not None and claim.is_held_by(process) else None


def grant(draft: Draft, asks: Acquire, now: float, retold: bool = False) -> Granted:
    """To be called when nothing stands in the way."""
    process = asks.caller.process
    assert process is not None
    mine = own_claim(draft, asks.item, process)
    running = () if mine else still_running(draft, asks.item)
    claim = mine or give(draft, asks.item, asks.caller, now, asks.note, asks.request, asks.until_empty)
    draft.page.remember(asks.request, claim, now, retold)
    if mine is None and draft.page.waiters_of(asks.item):
        draft.page.freed.append(asks.item)  # not free: but one below the new holder may work under it now
    return Granted(claim, again=mine is not None, still_running=running)


def give(
    draft: Draft,
    item: Item,
    caller: Caller,
    now: float,
    note: str | None,
    request: str | None,
    until_empty: bool = False,
) -> Claim:
    assert caller.process is not None
    hosts = draft.hosted(caller.process)
    hosted = next((each for each in hosts if each.id == caller.session), hosts[-1] if hosts else None)
    told = hosted or (draft.sessions.get(caller.session) if caller.session else None)
    holder = hosted.process if hosted and hosted.process else caller.process  # the one that is watched
    claim = Claim(
        item=item,
        fence=draft.page.next_fence(),
        holder=holder,
        session=told.id if told else caller.session,
        conversation=told.conversation if told else None,
        since=now,
        note=note,
        request=request,
        until_empty=until_empty,
    )
    draft.emit_claim(EventType.CLAIM_GRANTED, now, claim)
    draft.decision.effects.append(Watch(holder))
    draft.count("claims_granted")
    return claim


def free(draft: Draft, claim: Claim, because: Freed, now: float, by: str | None = None) -> None:
    facts = {"because": because.value} | ({"by": by} if by else {})
    draft.emit_claim(EventType.CLAIM_RELEASED, now, claim, **facts)
    draft.page.freed.append(claim.item)
    draft.count("claims_released")
