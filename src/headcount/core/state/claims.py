"""The book: the state of the ledger, and the page on which a batch is decided.

Rules
  1. Rows say who holds what; indices are derived from them, here and only here.
  2. Who waits is known in memory only: a waiter is an open question, and a restart ends all of them.
  3. Requests that were granted or withdrawn are remembered, the newest of them: a retry is the same question, and what
     was withdrawn is not granted.

Not here: what is granted to whom (core/claims/ledger.py, core/claims/grants.py, core/claims/queue.py), storage (store/).
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from headcount.core.state.overlay_map import OverlayMap, add_to, take_from
from headcount.core.values.claim import Acquire, Answer, Claim, Freed
from headcount.core.values.item import Item, is_path, overlaps
from headcount.core.values.process import ProcessIdentity

REQUESTS_MOST = 20_000  # far more than can be on their way at one time; retries come within seconds


class Waiter(Struct, frozen=True):
    arrival: int
    asks: Acquire
    retry_at: float | None = None  # its item was free, but it could not be proved alive
    retold: bool = False  # its request came again, so that two callers may hear the answer

    @property
    def process(self) -> ProcessIdentity:
        assert self.asks.caller.process is not None
        return self.asks.caller.process

    def next_look(self) -> float:
        assert self.asks.wait_until is not None
        return self.asks.wait_until if self.retry_at is None else min(self.asks.wait_until, self.retry_at)

    def put_off(self, seconds: float) -> "Waiter":
        assert self.asks.wait_until is not None
        asks = replace(self.asks, wait_until=self.asks.wait_until + seconds)
        return replace(self, asks=asks, retry_at=None if self.retry_at is None else self.retry_at + seconds)


class AnsweredRequest(Struct, frozen=True, omit_defaults=True):
    """A request that was granted, with the claim as it was then; without a claim: its caller withdrew it."""

    id: str
    at: float
    claim: Claim | None = None
    retold: bool = False  # it was answered more than once
    lost: bool = False  # its caller disconnected: withdrawn, and a retry is a new question

    @property
    def is_withdrawn(self) -> bool:
        return self.claim is None or self.lost


class Entries(Struct):
    """What a batch writes into the book."""

    claims: dict[Item, Claim] = field(default_factory=dict)
    requests: dict[str, AnsweredRequest] = field(default_factory=dict)
    forgotten: dict[str, bool] = field(default_factory=dict)
    accepts_loss: bool = False
    answers: dict[str, Answer] = field(default_factory=dict)  # to those who waited, by request

    @property
    def is_blank(self) -> bool:
        """Nothing of it needs to be stored."""
        return not (self.claims or self.requests or self.forgotten or self.accepts_loss)


class ClaimsState:
    def __init__(
        self,
        claims: Iterable[Claim] = (),
        requests: Iterable[AnsweredRequest] = (),
        fence: int = 0,
        loss: str | None = None,
    ) -> None:
        self.claims: dict[Item, Claim] = {}
        self.requests: dict[str, AnsweredRequest] = {}  # oldest first
        self.told: dict[
            int, tuple[str, ...]
        ] = {}  # by fence, the requests that were answered with that claim
        self.held: dict[int, tuple[Item, ...]] = {}  # by the holder's pid
        self.held_paths: dict[Item, bool] = {}
        self.closed: dict[Item, bool] = {}  # freed by a death, and to stay closed until its tree is empty
        self.waiting: dict[Item, tuple[Waiter, ...]] = {}
        self.waiting_paths: dict[Item, bool] = {}
        self.asked: dict[str, Item] = {}  # open requests of those who wait
        self.fence = fence
        self.arrivals = 0
        self.loss = loss  # where a lost store lies, until the operator has accepted that its claims are lost
        page = ClaimsDraft(self)
        for claim in claims:
            page.put(claim)
        for each in requests:
            page.keep(each)
        page.settle()

    def waiters(self) -> Iterator[Waiter]:
        return (waiter for queue in self.waiting.values() for waiter in queue)

    def put_off(self, seconds: float) -> None:
        """The clock was set by so much: whoever waits has as long to wait as before."""
        for item, line in self.waiting.items():
            self.waiting[item] = tuple(each.put_off(seconds) for each in line)

    def holding(self) -> Iterator[Claim]:
        return (claim for claim in self.claims.values() if claim.is_held)

    def items_of(self, process: ProcessIdentity) -> list[Item]:
        return [item for item in self.held.get(process.pid, ()) if self.claims[item].is_held_by(process)]


class ClaimsDraft:
    """The book as it will be if the batch is committed."""

    def __init__(self, book: ClaimsState) -> None:
        self._book = book
        self.claims = OverlayMap(book.claims)
        self.requests = OverlayMap(book.requests)
        self._told = OverlayMap(book.told)
        self._held = OverlayMap(book.held)
        self._held_paths = OverlayMap(book.held_paths)
        self.closed = OverlayMap(book.closed)
        self._waiting = OverlayMap(book.waiting)
        self._waiting_paths = OverlayMap(book.waiting_paths)
        self._asked = OverlayMap(book.asked)
        self.fence = book.fence
        self.arrivals = book.arrivals
        self.loss = book.loss
        self.freed: list[Item] = []  # since those who wait were last looked at
        self.entries = Entries()

    # --- reading -----------------------------------------------------------------------------------

    def held_by(self, process: ProcessIdentity) -> list[Claim]:
        mine: list[Claim] = [self.claims[item] for item in self._held.get(process.pid, ())]
        return [claim for claim in mine if claim.is_held_by(process)]

    def in_the_way(self, item: Item) -> list[Claim]:
        """Held claims that overlap the item, whoever holds them."""
        items = [each for each in self._held_paths if overlaps(each, item)] if is_path(item) else [item]
        found: list[Claim | None] = [self.claims.get(each) for each in items]
        return [claim for claim in found if claim is not None and claim.is_held]

    def last_of(self, item: Item) -> list[Claim]:
        """What is known of the item and of those that overlap it, held or not."""
        if not is_path(item):
            return [self.claims[item]] if item in self.claims else []
        return [self.claims[each] for each in self.claims if is_path(each) and overlaps(each, item)]

    def waiters_of(self, item: Item) -> list[Waiter]:
        """Who waits for something that overlaps the item, in order of arrival."""
        if not is_path(item):
            return list(self._waiting.get(item, ()))
        items = [each for each in self._waiting_paths if overlaps(each, item)]
        return sorted((w for each in items for w in self._waiting[each]), key=lambda each: each.arrival)

    def all_waiters(self) -> list[Waiter]:
        return sorted((w for each in self._waiting for w in self._waiting[each]), key=lambda w: w.arrival)

    def waiter(self, request: str) -> Waiter | None:
        item = self._asked.get(request)
        if item is None:
            return None
        return next(each for each in self._waiting[item] if each.asks.request == request)

    # --- changing ----------------------------------------------------------------------------------

    def next_fence(self) -> int:
        self.fence += 1
        return self.fence

    def put(self, claim: Claim) -> None:
        before: Claim | None = self.claims.get(claim.item)
        if before is not None and before.holder is not None:
            take_from(self._held, before.holder.pid, claim.item)
        self.claims[claim.item] = claim
        self.entries.claims[claim.item] = claim
        self.fence = max(self.fence, claim.fence)
        if claim.holder is not None:
            add_to(self._held, claim.holder.pid, claim.item)
        if is_path(claim.item):
            _flag(self._held_paths, claim.item, claim.is_held)
        _flag(self.closed, claim.item, claim.until_empty and claim.freed is Freed.DIED)

    def remember(
        self, request: str, claim: Claim | None, at: float, retold: bool = False, lost: bool = False
    ) -> None:
        remembered = AnsweredRequest(request, at, claim, retold, lost)
        self.keep(remembered)
        self.entries.requests[request] = remembered
        self.entries.forgotten.pop(request, None)
        excess = len(self._book.requests) + len(self.entries.requests) - REQUESTS_MOST
        for oldest in list(islice(self._book.requests, max(0, excess))):
            if oldest not in self.entries.requests:
                self.forget(oldest)

    def keep(self, remembered: AnsweredRequest) -> None:
        self._untell(remembered.id)
        self.requests[remembered.id] = remembered
        if remembered.claim is not None and not remembered.lost:
            add_to(self._told, remembered.claim.fence, remembered.id)

    def told(self, claim: Claim) -> tuple[str, ...]:
        """The requests that were answered with that claim and are not withdrawn."""
        found: tuple[str, ...] = self._told.get(claim.fence, ())
        return found

    def _untell(self, request: str) -> None:
        before: AnsweredRequest | None = self.requests.get(request)
        if before is not None and before.claim is not None:
            take_from(self._told, before.claim.fence, request)

    def forget(self, request: str) -> None:
        self._untell(request)
        del self.requests[request]
        self.entries.requests.pop(request, None)
        self.entries.forgotten[request] = True

    def enqueue(self, asks: Acquire) -> None:
        self.arrivals += 1
        add_to(self._waiting, asks.item, Waiter(self.arrivals, asks))
        self._asked[asks.request] = asks.item
        self._flag_waiting(asks.item)

    def requeue(self, waiter: Waiter, changed: Waiter) -> None:
        queue = self._waiting[waiter.asks.item]
        self._waiting[waiter.asks.item] = tuple(changed if each == waiter else each for each in queue)

    def dequeue(self, waiter: Waiter) -> None:
        take_from(self._waiting, waiter.asks.item, waiter)
        del self._asked[waiter.asks.request]
        self._flag_waiting(waiter.asks.item)

    def answer(self, waiter: Waiter, answer: Answer) -> None:
        self.dequeue(waiter)
        self.entries.answers[waiter.asks.request] = answer

    def settle(self) -> None:
        self.requests.settle(moved=True)  # the oldest are forgotten first, by when they were last written
        for layer in (
            self.claims, self._told, self._held, self._held_paths, self.closed, self._waiting,
            self._waiting_paths, self._asked,
        ):  # fmt: skip
            layer.settle()
        self._book.fence = self.fence
        self._book.arrivals = self.arrivals
        self._book.loss = self.loss
        self.entries = Entries()

    def _flag_waiting(self, item: Item) -> None:
        if is_path(item):
            _flag(self._waiting_paths, item, bool(self._waiting.get(item)))


def _flag(flags: OverlayMap[Item, bool], item: Item, is_so: bool) -> None:
    if is_so:
        flags[item] = True
    elif item in flags:
        del flags[item]
