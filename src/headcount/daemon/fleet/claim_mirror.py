"""The mirror: our own book of shared claims, kept equal to the shared ledger in both directions.

Rules
  1. A death that our book has freed is freed in the ledger, tried until it is done.
  2. What our book has and the ledger has not is over: it was lost, or ended by another host's operator. That is told.
  3. What the ledger has as ours and our book has not: at a start it is taken up if its process lives, for the
     ledger is the truth; later it is a grant that nobody was told of, and is given back.
  4. What a command is just doing is left alone.

Not here: commands (shared_claims.py), the lease (shared_claims.py).
"""

import asyncio
import logging
from collections.abc import Sequence

from headcount.core.claims.shared_with_fleet import mirrored
from headcount.core.liveness_proofs import Prove
from headcount.core.values.claim import Claim, Freed, SharedFreed, SharedGranted
from headcount.core.values.events import Event, EventType
from headcount.core.values.item import Item, is_shared
from headcount.core.values.verdict import Standing
from headcount.daemon.engine.loop import Loop
from headcount.daemon.fleet.intervals import Intervals
from headcount.daemon.fleet.shared_claims import SharedClaims
from headcount.store.fleet_interface import SharedClaim, SharedUnavailable

log = logging.getLogger("headcount.fleet")


class Mirror:
    def __init__(self, claims: SharedClaims, loop: Loop, prove: Prove, pace: Intervals) -> None:
        self._claims = claims
        self._ledger = claims.ledger
        self._loop = loop
        self._prove = prove
        self._pace = pace
        self._to_free: dict[tuple[Item, int], Freed] = {}
        self._wake = asyncio.Event()

    def held(self) -> dict[Item, Claim]:
        """To be asked before the ledger is."""
        return {claim.item: claim for claim in mirrored(self._loop.world)}

    # --- to the ledger ---------------------------------------------------------------------------------

    def noticed(self, events: Sequence[Event]) -> None:
        """Committed here: a death frees everywhere."""
        for event in events:
            died = event.type is EventType.CLAIM_RELEASED and event.facts.get("because") == Freed.DIED.value
            if died and event.claim is not None and is_shared(event.claim.item):
                self._free_later(event.claim, Freed.DIED)

    def _free_later(self, claim: Claim, because: Freed) -> None:
        self._to_free[claim.item, claim.fence] = because
        self._wake.set()

    async def run(self) -> None:
        delay = self._pace.retry_first
        while True:
            await self._wake.wait()
            try:
                await self._free_all()
                delay = self._pace.retry_first
            except SharedUnavailable as fault:
                log.info("what the dead held is not freed for the others yet: %s", fault)
                await asyncio.sleep(delay)
                delay = min(delay * 2, self._pace.retry_most)

    async def _free_all(self) -> None:
        self._wake.clear()
        try:
            for (item, fence), because in list(self._to_free.items()):
                await self._ledger.free(item, fence, because)
                del self._to_free[item, fence]
        finally:
            if self._to_free:
                self._wake.set()

    # --- from the ledger -------------------------------------------------------------------------------

    async def reconcile(
        self, before: dict[Item, Claim], ours: Sequence[SharedClaim], *, starting: bool
    ) -> int:
        """`before`: our book before the ledger was read. Gives how many claims were lost."""
        there = {each.claim.item: each.claim for each in ours}
        lost = [claim for claim in before.values() if not _is_same(there.get(claim.item), claim)]
        lost = [claim for claim in lost if self._still_has(claim)]
        if lost:
            await self._tell_lost(lost)
        for claim in there.values():
            if not self._claims.is_busy(claim.item) and not self._knows(claim):
                await self._take_up(claim, starting=starting)
        return len(lost)

    async def look_at(self, item: Item) -> None:
        """A hint named it: another host's operator may have ended our claim."""
        claim = self.held().get(item)
        if claim is None or not self._still_has(claim):
            return
        now = (await self._ledger.read([item])).get(item)
        over = now is None or now.host is None or now.claim.fence != claim.fence
        if over and self._still_has(claim):
            await self._tell_lost([claim])

    async def _tell_lost(self, lost: list[Claim]) -> None:
        now = await self._ledger.read([claim.item for claim in lost])
        for claim in lost:
            because = _how_it_ended(claim, now.get(claim.item))
            log.warning("%s (claim #%d) is no longer ours: %s", claim.item, claim.fence, because.value)
            by = "another host" if because is Freed.FORCED else None
            self._loop.put(SharedFreed(claim.item, claim.fence, because, by))

    async def _take_up(self, claim: Claim, *, starting: bool) -> None:
        assert claim.holder is not None
        is_dead = self._prove(claim.holder).standing is Standing.DEAD
        if starting and not is_dead:
            self._loop.put(SharedGranted(claim))
        else:
            because = Freed.DIED if is_dead else Freed.RELEASED
            await self._ledger.free(
                claim.item, claim.fence, because, claim.request, unless=lambda: self._is_asked_for(claim)
            )

    def _is_asked_for(self, claim: Claim) -> bool:
        """Somebody asked again meanwhile and is just being told of it, or was."""
        return self._claims.is_busy(claim.item) or self._knows(claim)

    def _still_has(self, claim: Claim) -> bool:
        return not self._claims.is_busy(claim.item) and self._knows(claim)

    def _knows(self, claim: Claim) -> bool:
        return _is_same(self._loop.world.book.claims.get(claim.item), claim)


def _is_same(there: Claim | None, claim: Claim) -> bool:
    return there is not None and there.is_held and there.fence == claim.fence


def _how_it_ended(claim: Claim, now: SharedClaim | None) -> Freed:
    if now is not None and now.claim.fence == claim.fence and now.claim.freed is not None:
        return now.claim.freed
    return Freed.LEASE_LOST
