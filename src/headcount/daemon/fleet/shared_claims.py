"""Run commands on shared claims in the fleet's ledger, mirror the grants here, and keep this host's lease.

Rules
  1. The decision is made in the shared ledger's transaction, with proofs of our own processes taken under its
     lock. Only the daemon that can see a process grants it anything: those who wait ask for a freed item.
  2. A grant is answered when both the ledger and our own store have it, and our lease still holds.
  3. Without the database a command fails. Nothing is queued that could surprise later.
  4. A waiter stands in the ledger's queue, is woken by a hint, and also looks again by itself.
  5. A request that its caller gave up is withdrawn after its command has ended. If the database is away then,
     the mirror gives the claim up, and the next renewal frees it in the ledger.
  6. The lease's deadline counts from before the renewal was sent, on a clock that includes suspended time. The
     database counts from when it got the renewal, so ours always ends first.
  7. After the deadline this host vouches for nothing, whatever it remembers. Others wait a lock-delay longer.

Not here: the rules of granting (core/claims/shared_with_fleet.py), the rows (store/postgres/ledger.py), what
  the mirror lost (daemon/fleet/claim_mirror.py), when to renew (daemon/fleet/while_joined.py).
"""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Coroutine

from msgspec.structs import replace

from headcount.core.claims.shared_with_fleet import SharedCommand, SharedDecision, SharedItem, decide_shared
from headcount.core.liveness_proofs import Prove
from headcount.core.values.claim import (
    Acquire,
    Answer,
    ClaimRefused,
    Freed,
    Granted,
    HandOff,
    Released,
    SharedFreed,
    SharedGranted,
    Waiting,
    Withdraw,
)
from headcount.core.values.evidence import Judged
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.daemon.fleet.intervals import Intervals
from headcount.store.fleet_interface import SharedLedger, SharedUnavailable
from headcount.system.clock import Clock


class Lease:
    def __init__(self, clock: Clock, ttl: float) -> None:
        self._clock = clock
        self._ttl = ttl
        self._deadline: float | None = None
        self.fault = "the shared database was not reached yet"  # why it is not renewed

    def sending(self) -> float:
        """To be asked before a renewal is sent, and given to `renewed` once it was answered."""
        return self._clock.boottime()

    def renewed(self, sent: float) -> None:
        self._deadline = sent + self._ttl
        self.fault = ""

    def given_up(self) -> None:
        self._deadline = None

    @property
    def holds(self) -> bool:
        return self._deadline is not None and self._clock.boottime() < self._deadline

    def need(self) -> None:
        """Raises what the caller hears, when this host cannot vouch."""
        if not self.holds:
            raise SharedUnavailable(
                f"shared claims cannot be vouched for now: {self.fault or 'the lease ran out'}. "
                "path:, port: and local: claims go on"
            )


class SharedClaims:
    def __init__(
        self, ledger: SharedLedger, loop: Loop, clock: Clock, prove: Prove, lease: Lease, pace: Intervals
    ) -> None:
        self.ledger = ledger
        self.lease = lease
        self._loop = loop
        self._clock = clock
        self._prove = prove
        self._pace = pace
        self._busy: Counter[Item] = Counter()
        self._open: Counter[str] = Counter()  # requests that wait here; one may be asked twice at a time
        self._bells: dict[Item, set[asyncio.Event]] = defaultdict(set)
        self._asking: dict[
            str, asyncio.Task[Answer]
        ] = {}  # commands of requests, between the ledger and the mirror
        self._tasks: set[asyncio.Task[object]] = set()

    async def command(self, command: SharedCommand) -> Answer:
        """As the loop's own. Cancelling it while it waits gives its place up."""
        if isinstance(command, Withdraw):
            return await self._withdraw(command)
        self.lease.need()
        if isinstance(command, Acquire) and command.wait_until is not None:
            return await self._in_line(command, command.wait_until)
        return await self._finished(self._commit(command, None), command)

    def put(self, command: Withdraw) -> None:
        """In the background: nobody waits for the answer."""
        self._track(asyncio.create_task(self._withdraw(command)))

    # --- what the others need to know ------------------------------------------------------------------

    def is_busy(self, item: Item) -> bool:
        """A command on it is between the ledger and the mirror."""
        return self._busy[item] > 0

    def is_open(self, request: str) -> bool:
        """It waits here. It is so from before it stands in a line of the ledger."""
        return self._open[request] > 0

    def ring(self, item: Item) -> None:
        """Something of it was freed: who waits here may try."""
        for bell in self._bells.get(item, ()):
            bell.set()

    def ring_all(self) -> None:
        for item in list(self._bells):
            self.ring(item)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # --- one command -----------------------------------------------------------------------------------

    async def _finished(self, work: Coroutine[object, object, Answer], command: SharedCommand) -> Answer:
        """Whoever asked may go away; what was begun is brought to its end, so that the mirror is right."""
        task = self._track(asyncio.create_task(work))
        if isinstance(command, Acquire):
            asking, id = self._asking, command.request
            asking[id] = task
            task.add_done_callback(lambda done: asking.get(id) is done and asking.pop(id))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise  # whoever asked has left
            raise SharedUnavailable("this host is leaving the shared database") from None

    def _track(self, task: asyncio.Task[Answer]) -> asyncio.Task[Answer]:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _commit(self, command: SharedCommand, left: float | None) -> Answer:
        seen: list[SharedItem] = []

        def decide(known: SharedItem, now: float) -> SharedDecision:
            seen[:] = [known]
            return self._decide(command, left, known, now)

        self._busy[command.item] += 1
        try:
            answer = await self.ledger.decide(command, decide, self._loop.world.book.fence)
            self.lease.need()
            answer = await self._mirrored(command, answer, ours=seen[0].ours)
            if isinstance(answer, Granted):
                self.lease.need()  # our own disk may have been slow
            return answer
        finally:
            self._busy[command.item] -= 1

    def _decide(
        self, command: SharedCommand, left: float | None, known: SharedItem, now: float
    ) -> SharedDecision:
        """Under the item's lock. The times of the ledger are the database's; a wait is counted in its own."""
        if isinstance(command, Acquire):
            command = replace(command, wait_until=None if left is None else now + left)
        verdicts = self._proofs(command, known)
        holder = known.claim.holder if known.claim else None
        if known.ours and holder in verdicts and verdicts[holder].standing is Standing.DEAD:
            self._loop.put(Judged(holder, verdicts[holder], self._clock.now()))
        return decide_shared(self._loop.world, known, command, now, verdicts)

    def _proofs(self, command: SharedCommand, known: SharedItem) -> dict[ProcessIdentity, Verdict]:
        """Of processes of this host only: of another's nothing can be said here."""
        asked = {command.caller.process} if isinstance(command, Acquire) else set()
        if known.ours and known.claim is not None:
            asked.add(known.claim.holder)
        if isinstance(command, HandOff) and command.to in self._loop.world.sessions:
            asked.add(self._loop.world.sessions[command.to].process)
        return {process: self._prove(process) for process in asked if process is not None}

    async def _mirrored(self, command: SharedCommand, answer: Answer, *, ours: bool) -> Answer:
        if isinstance(answer, Released) and not answer.again:
            by = "operator" if answer.because is Freed.FORCED else None
            await self._loop.command(SharedFreed(command.item, answer.claim.fence, answer.because, by))
        if not isinstance(answer, Granted) or answer.under or (answer.again and not ours):
            return answer
        if isinstance(command, HandOff) and not answer.again:
            await self._hand_over(command.item)
        try:
            request = command.request if isinstance(command, Acquire) else None
            told = await self._loop.command(SharedGranted(answer.claim, answer.again, request, answer.retold))
            return answer if isinstance(told, Granted) else told
        except NotStored:
            if not answer.again:
                await self._take_back(answer)
            raise

    async def _hand_over(self, item: Item) -> None:
        before = self._loop.world.book.claims.get(item)
        if before is not None and before.is_held:
            await self._loop.command(SharedFreed(item, before.fence, Freed.HANDED_OFF))

    async def _take_back(self, answer: Granted) -> None:
        """It could not be stored here, so it is told to nobody; the next renewal finds it if this fails too."""
        claim = answer.claim
        with contextlib.suppress(SharedUnavailable):
            await self.ledger.free(claim.item, claim.fence, Freed.RELEASED, claim.request)

    # --- waiting ---------------------------------------------------------------------------------------

    async def _in_line(self, asks: Acquire, until: float) -> Answer:
        bell = asyncio.Event()
        self._bells[asks.item].add(bell)
        self._open[asks.request] += 1
        answer: Answer | None = None
        in_line = False
        over = self._clock.boottime() + until - self._clock.now()  # by the clock that nobody sets
        try:
            while True:
                bell.clear()
                left = over - self._clock.boottime()
                answer = None
                answer = await self._finished(self._commit(asks, left if left > 0 else None), asks)
                if not isinstance(answer, Waiting) and not (in_line and left > 0 and _is_doubt(answer)):
                    return answer
                in_line = True
                await self._rung(bell, min(left, self._pace.reread_every))
                self.lease.need()
        finally:
            self._bells[asks.item].discard(bell)
            if not self._bells[asks.item]:
                del self._bells[asks.item]
            self._open -= Counter([asks.request])
            if not self.is_open(asks.request) and (answer is None or isinstance(answer, Waiting)):
                self.put(Withdraw(asks.request, asks.item))

    async def _rung(self, bell: asyncio.Event, within: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await bell.wait()

    async def _withdraw(self, command: Withdraw) -> Answer:
        """If the database is away, the next renewal also clears the line of what is not open."""
        if (asking := self._asking.get(command.request)) is not None:
            await asyncio.wait({asking})
        try:
            self.lease.need()
            return await self._finished(self._commit(command, None), command)
        finally:
            # By the same rules on our own book, whether the database was there or not; before the caller can ask again.
            await self._loop.keep(command)
            self.ring(command.item)


def _is_doubt(answer: Answer) -> bool:
    """Whoever waits and cannot be proved just now keeps its place: doubt ends nothing."""
    return isinstance(answer, ClaimRefused) and answer.code == "unverified"
