"""The loop: drain, decide the batch, commit once, answer, tell.

Rules
  1. One inbox, one timer, one writer. Nobody else changes the world. Who comes in together is one batch.
  2. A failed commit is told to nobody: the draft is dropped, evidence waits and is decided again,
     and whoever asked for an answer hears that it could not be stored.
  3. Effects start after the commit; what comes of them returns as evidence.
  4. Evidence on which deciding fails, or of which something comes that no store can take, is set aside alone,
     loudly; the others are decided and stored.
  5. A grant to a caller that is gone is withdrawn.
  6. Before a batch with commands those on whom it turns are proved; after the commit, before the
     answer, whoever was granted something is proved once more. A batch of mere reports asks nobody.

Not here: what is decided (core/), how it is stored (store/), who listens (broadcast.py).
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from headcount.core.decide import Outcome, next_deadline
from headcount.core.liveness_proofs import Prove, decide_proved
from headcount.core.state.claims import Entries
from headcount.core.state.world import Draft, World
from headcount.core.values.claim import Acquire, Answer, ClaimRefused, Command, Granted, Waiting, Withdraw
from headcount.core.values.events import Effect, Event
from headcount.core.values.evidence import Evidence, Judged, Tick
from headcount.core.values.leftover import Leftover, LeftoverId
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Session, SessionId
from headcount.core.values.verdict import Standing, Verdict
from headcount.daemon.engine.pending_answers import PendingAnswers
from headcount.store.interface import StoreFault
from headcount.system.clock import Clock
from headcount.times import CLOCK_SLACK, COMMIT_RETRY_FIRST, COMMIT_RETRY_MOST, GATHERED_WITHIN

log = logging.getLogger("headcount.loop")

BATCH_MOST = 1024

QUIET_TURNS = 8
"""A request is read in one turn of the event loop and asks in the next. Sixteen callers who all were answered just now
come back within some turns of each other: with two they were two crowds, each with its own commit, which took turns
at the interpreter's lock."""


class NotStored(Exception):
    """The commit failed; nothing of it is true. Asking again later may succeed."""


class NotWeighed(Exception):
    """Deciding on it failed: a bug of ours. Asking again does not help."""


class StoreWriter(Protocol):
    async def commit(
        self,
        events: Sequence[Event],
        rows: Sequence[Session],
        dropped: Sequence[SessionId] = (),
        ledger: Entries | None = None,
        leftovers: Sequence[Leftover] = (),
        cleared: Sequence[LeftoverId] = (),
    ) -> None: ...


class InboxEntry(Struct):
    evidence: Evidence
    answer: asyncio.Future[Outcome] | None = None


class Inbox:
    """Evidence that waits to be decided. It exists before the loop, so that parts which the loop needs can put into it."""

    def __init__(self) -> None:
        self.entries: deque[InboxEntry] = deque()
        self.wake = asyncio.Event()

    def put(self, evidence: Evidence, answer: asyncio.Future[Outcome] | None = None) -> None:
        self.entries.append(InboxEntry(evidence, answer))
        self.wake.set()


class Loop:
    def __init__(
        self,
        world: World,
        store: StoreWriter,
        clock: Clock,
        *,
        start_effects: Callable[[Sequence[Effect]], None],
        tell: Callable[[Sequence[Event], World], None],
        prove: Prove,
        judged: Callable[[ProcessIdentity, Verdict], Judged] | None = None,
        stored: Callable[[Entries], None] = lambda entries: None,
        inbox: Inbox | None = None,
        counts: Counter[str] | None = None,
    ) -> None:
        self.world = world
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.fault: str | None = None  # why the store cannot be written, while it cannot
        self._store = store
        self._clock = clock
        self._start_effects = start_effects
        self._tell = tell
        self._prove = prove
        self._judged = judged or (lambda process, verdict: Judged(process, verdict, clock.now()))
        self._stored = stored  # told of what was written about claims, before anybody is answered
        self.listeners: PendingAnswers[Outcome] = PendingAnswers(lambda request: self.put(Withdraw(request)))
        inbox = Inbox() if inbox is None else inbox
        self._inbox, self._wake = inbox.entries, inbox.wake
        self._put = inbox.put
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = False
        self._ahead = clock.now() - clock.boottime()  # of the steady clock
        self._crowded = False  # the last batch was of several: more of them will come back soon

    # --- what comes in -----------------------------------------------------------------------------

    def put(self, evidence: Evidence) -> None:
        """Evidence that nobody waits for; it is decided as soon as it can be stored."""
        self._put(evidence)

    async def ask(self, evidence: Evidence) -> Outcome:
        """Returns once it is committed; raises NotStored if it could not be."""
        return await self.submit(evidence)

    async def keep(self, evidence: Evidence) -> None:
        """Of what has already happened: returns once it is committed, or in line until it can be."""
        try:
            await self.submit(evidence)
        except NotStored:
            self.put(evidence)

    async def command(self, command: Command) -> Answer:
        """As `ask`. Cancelling it while it waits for its turn gives its place up."""
        told = self.submit(command)
        try:
            answer = await told
        except asyncio.CancelledError:
            if isinstance(command, Acquire) and told.done() and not told.cancelled():
                self.put(Withdraw(command.request, command.item))  # it was answered in the very moment
            raise
        assert isinstance(answer, Answer)
        return answer

    def submit(self, evidence: Evidence) -> asyncio.Future[Outcome]:
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._put(evidence, answer)
        return answer

    # --- the loop ----------------------------------------------------------------------------------

    async def run(self) -> None:
        delay = COMMIT_RETRY_FIRST
        while not (self._stopping and not self._inbox):
            batch = await self._drain()
            if await self._turn(batch):
                delay = COMMIT_RETRY_FIRST
            elif self._stopping:
                return
            else:
                await asyncio.sleep(delay)
                delay = min(delay * 2, COMMIT_RETRY_MOST)

    def stop(self) -> None:
        """Ends `run` once the inbox is empty."""
        self._stopping = True
        self._wake.set()

    async def _drain(self) -> list[InboxEntry]:
        self._set_timer()
        await self._wake.wait()
        if self._crowded or len(self._inbox) > 1:
            await self._gather()
        batch = [self._inbox.popleft() for _ in range(min(len(self._inbox), BATCH_MOST))]
        self._crowded = len(batch) > 1
        if not self._inbox and not self._stopping:
            self._wake.clear()
        return batch

    async def _gather(self) -> None:
        """Lets whoever is just coming in be decided and stored together: a commit costs the same for all. Whoever
        comes alone after one that came alone does not get here."""
        event_loop = asyncio.get_running_loop()
        until, quiet, known = event_loop.time() + GATHERED_WITHIN, 0, len(self._inbox)
        while quiet < QUIET_TURNS and known < BATCH_MOST and event_loop.time() < until:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._inbox) == known else 0
            known = len(self._inbox)

    async def _turn(self, batch: list[InboxEntry]) -> bool:
        batch = self._without_void(batch)
        if not batch:
            return True
        draft, outcomes = self._decide(batch)
        decision = draft.decision
        if not decision.is_blank:
            try:
                await self._store.commit(
                    decision.events,
                    list(decision.rows.values()),
                    decision.dropped,
                    decision.ledger,
                    list(decision.leftovers.values()),
                    decision.cleared,
                )
            except StoreFault as fault:
                if fault.kind in ("corrupt", "gone"):
                    raise  # a new start sets the file aside and rebuilds from the living
                if fault.kind == "value":
                    return await self._in_halves(batch, fault)
                self._not_stored(batch, fault)
                return False
            self.fault = None
        self._stored(decision.ledger)
        draft.settle()
        if decision.counts:
            self.counts.update(decision.counts)
        self._answer(batch, outcomes, decision.ledger.answers)
        self._tell(decision.events, self.world)
        self._start_effects(decision.effects)
        return True

    def _without_void(self, batch: list[InboxEntry]) -> list[InboxEntry]:
        """A withdrawal for a caller that disconnected is void while a retry of the request listens: it may have been on
        its way to the disk then. One that a caller asked for is always decided."""
        if not any(isinstance(entry.evidence, Withdraw) for entry in batch):
            return batch
        listened = self.listeners.listened | {
            entry.evidence.request
            for entry in batch
            if isinstance(entry.evidence, Acquire) and entry.answer is not None and not entry.answer.done()
        }
        return [
            entry
            for entry in batch
            if not (
                isinstance(entry.evidence, Withdraw)
                and entry.evidence.caller is None
                and entry.evidence.request in listened
            )
        ]

    async def _in_halves(self, batch: list[InboxEntry], fault: StoreFault) -> bool:
        """One of them cannot be stored, ever. By halving it is found, and the others are committed beside it."""
        if len(batch) == 1:
            self._set_aside(batch[0], fault)
            return True
        middle = len(batch) // 2
        self._inbox.extendleft(
            reversed(batch[middle:])
        )  # next, and after what of the first half may have to wait
        self._wake.set()
        return await self._turn(batch[:middle])

    def _decide(self, batch: list[InboxEntry]) -> tuple[Draft, list[Outcome]]:
        now = self._follow_clock()
        try:
            return self._decide_on([entry.evidence for entry in batch], now)
        except Exception:
            log.exception("deciding a batch of %d failed; deciding one by one", len(batch))
        return self._decide_on(self._sound(batch, now), now)

    def _follow_clock(self) -> float:
        """The time. Whoever waits does so by the steady clock: when the other was set, deadlines are set with it."""
        now = self._clock.now()
        set_by = now - self._clock.boottime() - self._ahead
        if abs(set_by) > CLOCK_SLACK:
            self._ahead += set_by
            self.world.book.put_off(set_by)
        return now

    def _decide_on(self, evidence: Sequence[Evidence], now: float) -> tuple[Draft, list[Outcome]]:
        return decide_proved(self.world, evidence, now, self._prove)

    def _sound(self, batch: list[InboxEntry], now: float) -> list[Evidence]:
        """The evidence of a batch without the pieces that break the rules' code (a bug, not a fault)."""
        sound: list[Evidence] = []
        rest = list(batch)
        while rest:
            good, bug = self._good_part(sound, rest, now)
            sound += [entry.evidence for entry in rest[:good]]
            if bug is not None:
                batch.remove(rest[good])
                self._set_aside(rest[good], bug)
            rest = rest[good + 1 :]
        return sound

    def _good_part(
        self, before: list[Evidence], rest: list[InboxEntry], now: float
    ) -> tuple[int, Exception | None]:
        """How many of the rest can be decided, and why the next cannot. By halving: trying each in turn would
        take a full batch longer than the watchdog waits."""
        good, bad, bug = 0, len(rest) + 1, None
        while bad - good > 1:
            tried = len(rest) if bug is None else (good + bad) // 2
            try:
                self._decide_on([*before, *(entry.evidence for entry in rest[:tried])], now)
            except Exception as error:
                bad, bug = tried, error
            else:
                good = tried
        return good if bug is None else bad - 1, bug

    def _set_aside(self, entry: InboxEntry, bug: Exception) -> None:
        self.counts["bugs"] += 1
        log.error("evidence %s set aside: %s", type(entry.evidence).__name__, type(bug).__name__)
        if entry.answer is not None and not entry.answer.done():
            entry.answer.set_exception(NotWeighed("headcount could not weigh this; see its log"))

    def _not_stored(self, batch: list[InboxEntry], fault: StoreFault) -> None:
        self.counts["failed_commits"] += 1
        if self.fault is None:
            log.error("nothing can be stored (%s): %s", fault.kind, fault)
        self.fault = str(fault)
        waiting = [entry for entry in batch if entry.answer is None]
        for entry in batch:
            if entry.answer is not None and not entry.answer.done():
                entry.answer.set_exception(NotStored(str(fault)))
        self._inbox.extendleft(reversed(waiting))
        if self._inbox:
            self._wake.set()

    def _answer(self, batch: list[InboxEntry], outcomes: list[Outcome], waited: dict[str, Answer]) -> None:
        for entry, outcome in zip(batch, outcomes, strict=True):
            if entry.answer is None:
                continue
            if isinstance(outcome, Waiting):
                self.listeners.add(outcome.request, entry.answer)
            elif not entry.answer.done():
                entry.answer.set_result(self._proved(outcome))
            elif isinstance(outcome, Granted) and isinstance(entry.evidence, Acquire):
                self.put(Withdraw(entry.evidence.request))
        for request, answer in waited.items():
            if not self.listeners.answer(request, self._proved(answer)) and isinstance(answer, Granted):
                self.put(Withdraw(request))

    def _proved(self, outcome: Outcome) -> Outcome:
        """A grant to somebody who died while it was being stored is none; the death frees it again."""
        if not isinstance(outcome, Granted) or outcome.claim.holder is None:
            return outcome
        verdict = self._prove(outcome.claim.holder)
        if verdict.standing is not Standing.DEAD:
            return outcome
        self.counts["grants_undone"] += 1
        self.put(self._judged(outcome.claim.holder, verdict))
        return ClaimRefused("dead", f"pid {outcome.claim.holder.pid} ended before it could be told.")

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = next_deadline(self.world)
        if due is not None and not self._stopping:
            wait = max(0.0, due - self._clock.now())
            self._timer = asyncio.get_running_loop().call_later(wait, self.put, Tick())
