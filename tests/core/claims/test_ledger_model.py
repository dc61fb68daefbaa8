"""The ledger against a model that is too simple to be wrong: random stories, every promise after each step.

The model knows who lives and who holds what by the answers alone. It never looks at the book.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from headcount.core.state.claims import ClaimsState
from headcount.core.values.claim import (
    Accepted,
    Acquire,
    Caller,
    ClaimRefused,
    Granted,
    Held,
    Release,
    Released,
    Waiting,
)
from headcount.core.values.events import Event, EventType, apply_claim
from headcount.core.values.item import Item, overlaps
from headcount.core.values.process import ProcessIdentity
from tests.rig.claims.core_ledger import FIRST, Desk
from tests.rig.core_values import death, process

PIDS = [100, 200, 300, 400]
ITEMS = ["task:a", "path:/a/**", "path:/a/b", "path:/a/c"]

people = st.sampled_from(PIDS)  # whoever has that pid now
items = st.sampled_from(ITEMS)
waits = st.none() | st.integers(1, 30)


class Ledgers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.holds: dict[str, tuple[ProcessIdentity, int]] = {}  # item -> who, fence
        self.line: list[tuple[str, ProcessIdentity, str]] = []  # request, who, item; in order of arrival
        self.fence = FIRST
        self.heard = 0  # events looked at
        self.lives = {pid: process(pid) for pid in PIDS}
        self.births = 0
        self.doubted: set[ProcessIdentity] = set()  # could not be proved at some time
        self.asks: dict[str, tuple[str, ProcessIdentity]] = {}  # every request that was ever made
        self.withdrawn: set[str] = set()
        self.disconnected: set[str] = set()  # withdrawn by the end of a connection, and not asked again since
        self.told: dict[
            tuple[str, int], list[str]
        ] = {}  # item and fence -> requests told of it, not withdrawn

    # --- what happens --------------------------------------------------------------------------------

    @rule(item=items, pid=people, wait=waits)
    def acquire(self, item: str, pid: int, wait: int | None) -> None:
        self.ask(item, self.lives[pid], wait, self.desk.request())

    @precondition(lambda self: self.disconnected)
    @rule(data=st.data(), wait=waits)
    def ask_again_after_a_disconnection(self, data: st.DataObject, wait: int | None) -> None:
        """With the same id, as a new question, whatever became of the claim meanwhile."""
        request = data.draw(st.sampled_from(sorted(self.disconnected)))
        self.disconnected.remove(request)
        self.ask(*self.asks[request], wait, request)

    def ask(self, item: str, who: ProcessIdentity, wait: int | None, request: str) -> None:
        self.asks[request] = (item, who)
        free = not self.others(item, who)
        stalled = {each.asks.request for each in self.desk.world.book.waiters() if each.retry_at is not None}
        overtakes = any(
            overlaps(Item(item), Item(other)) and waiter != who
            for asked, waiter, other in self.line
            if waiter not in self.desk.dead and asked not in stalled and not self.keeps_waiting(who, other)
        )
        mine = item in self.holds and self.holds[item][0] == who
        answer = self.desk.acquire(item, who, wait=wait, request=request)
        if who in self.desk.dead:
            assert isinstance(answer, ClaimRefused) and answer.code == "dead"
        elif who in self.desk.hidden:
            assert isinstance(answer, ClaimRefused) and answer.code == "unverified"
        elif free and (mine or not overtakes):
            assert isinstance(answer, Granted)
            assert answer.again == mine
            self.hear_of(request, answer)
        elif wait is None:
            assert isinstance(answer, Held)
        else:
            assert answer == Waiting(request)
            self.line.append((request, who, item))
        self.follow()

    @rule(item=items, pid=people, guess=st.booleans())
    def release(self, item: str, pid: int, guess: bool) -> None:
        who = self.lives[pid]
        held = self.holds.get(item)
        fence = held[1] if guess and held else None
        answer = self.desk.release(item, who, fence)
        if who not in self.desk.dead:  # asking shows that a dead one is over, and its claims are free
            assert isinstance(answer, Released) == (held is not None and held[0] == who)
        self.follow()

    @precondition(lambda self: self.holds)
    @rule(data=st.data())
    def force(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(sorted(self.holds)))
        assert isinstance(self.desk.force(item), Released)
        self.follow()

    @rule(pid=people)
    def die(self, pid: int) -> None:
        who = self.lives[pid]
        self.desk.hidden.discard(who)
        self.desk.die(who)
        self.follow()
        assert who not in self.desk.held().values()

    @rule(pid=people)
    def end_unseen(self, pid: int) -> None:
        """It is over, and the kernel's word has not come in yet."""
        self.desk.hidden.discard(self.lives[pid])
        self.desk.dead.add(self.lives[pid])

    @precondition(lambda self: self.holds)
    @rule(data=st.data(), pid=people)
    def ask_for_what_one_who_ended_unseen_held(self, data: st.DataObject, pid: int) -> None:
        item = data.draw(st.sampled_from(sorted(self.holds)))
        holder, _ = self.holds[item]
        self.desk.hidden.discard(holder)
        self.desk.dead.add(holder)
        self.acquire(item, pid, None)

    @rule(pid=people)
    def reuse_the_pid(self, pid: int) -> None:
        """Another process gets the number of a dead one; of the death nobody may have heard."""
        if self.lives[pid] in self.desk.dead:
            self.births += 1
            self.lives[pid] = process(pid, inode=self.births)

    @rule(pid=people)
    def hide(self, pid: int) -> None:
        if self.lives[pid] not in self.desk.dead:
            self.desk.hidden ^= {self.lives[pid]}
            self.doubted |= self.desk.hidden

    @rule(seconds=st.integers(1, 40))
    def pass_time(self, seconds: int) -> None:
        self.desk.pass_time(float(seconds))
        self.follow()

    @precondition(lambda self: self.asks)
    @rule(data=st.data(), said=st.booleans())
    def withdraw(self, data: st.DataObject, said: bool) -> None:
        """At any point after it was asked: in line, granted, told `again`, refused, released, over."""
        request = data.draw(st.sampled_from(sorted(self.asks)))
        item, who = self.asks[request]
        told = [key for key, requests in self.told.items() if request in requests]
        before = dict(self.holds)
        answer = self.desk.withdraw(request, who if said else None, item)
        assert isinstance(answer, Accepted | Released)
        self.line = [each for each in self.line if each[0] != request]
        self.withdrawn |= {request} if said else set()
        self.disconnected = (self.disconnected | {request}) - self.withdrawn
        for key in told:
            self.told[key].remove(request)
            was_its = before.get(item) == (who, key[1])
            assert isinstance(answer, Released) == (was_its and not self.told[key])
        self.follow()
        kept = {other for other, held in before.items() if other != item or held[0] != who}
        assert kept <= set(self.holds)

    @precondition(lambda self: self.withdrawn)
    @rule(data=st.data(), wait=waits)
    def ask_late_for_what_was_withdrawn(self, data: st.DataObject, wait: int | None) -> None:
        """A copy of the request that comes after its withdrawal."""
        request = data.draw(st.sampled_from(sorted(self.withdrawn)))
        item, who = self.asks[request]
        before = dict(self.holds)
        answer = self.desk.acquire(item, who, wait=wait, request=request)
        assert isinstance(answer, ClaimRefused)
        self.follow()
        assert set(self.holds.items()) <= set(before.items()), (
            "only a death that showed by asking changes something"
        )

    @rule(item=items, pid=people, wait=waits)
    def withdraw_before_asking(self, item: str, pid: int, wait: int | None) -> None:
        who, request = self.lives[pid], self.desk.request()
        assert self.desk.withdraw(request, who, item) == Accepted()
        assert isinstance(self.desk.acquire(item, who, wait=wait, request=request), ClaimRefused)
        self.follow()

    @rule()
    def restart(self) -> None:
        """Waiters are open questions and end; rows come back, and every holder is proved again."""
        old, self.desk = self.desk, Desk(stored(self.desk))
        self.desk.dead, self.desk.hidden, self.desk.now = old.dead, old.hidden, old.now
        self.desk.asked, self.heard, self.line = old.asked, 0, []
        self.desk.tell(*(death(who, old.now) for who, _ in self.holds.values() if who in old.dead))
        self.follow()

    @rule(item=items, pids=st.lists(people, min_size=2, max_size=4))
    def all_at_once(self, item: str, pids: list[int]) -> None:
        """One batch, several who want the same: one winner."""
        batch = [Acquire(Item(item), Caller(self.lives[pid]), self.desk.request()) for pid in pids]
        answers = self.desk.tell(*batch, Release(Item(item), Caller(self.lives[pids[-1]])))
        for asked, answer in zip(batch, answers, strict=False):
            self.asks[asked.request] = (item, asked.caller.process)
            self.hear_of(asked.request, answer)
        winners = {each.claim.fence for each in answers if isinstance(each, Granted)}
        assert len(winners) <= 1
        self.follow()

    def keeps_waiting(self, who: ProcessIdentity, item: str) -> bool:
        """Whether whoever waits for that waits for what it holds itself."""
        return any(
            overlaps(Item(held), Item(item)) for held, (holder, _) in self.holds.items() if holder == who
        )

    # --- what the answers and events say -------------------------------------------------------------

    def hear_of(self, request: str, answer: Any) -> None:
        """A claim that this request was answered with."""
        if isinstance(answer, Granted) and not any(request in requests for requests in self.told.values()):
            self.told.setdefault((answer.claim.item, answer.claim.fence), []).append(request)

    def follow(self) -> None:
        for request, answer in self.desk.answers.items():
            self.hear_of(request, answer)
        self.desk.answers = {
            request: answer for request, answer in self.desk.answers.items() if request in self.waiting()
        }
        self.leave(lambda answer: not isinstance(answer, Granted))
        for event in self.desk.events[self.heard :]:
            self.hear(event)
        self.heard = len(self.desk.events)
        self.leave(lambda answer: True)

    def leave(self, fits: Callable[[Any], bool]) -> None:
        """Out of the line with those who got such an answer."""
        for request, who, item in list(self.line):
            answer = self.desk.answers.get(request)
            if answer is not None and fits(answer):
                self.line.remove((request, who, item))
                if isinstance(answer, Granted):
                    assert (answer.claim.item, answer.claim.holder) == (item, who)

    def hear(self, event: Event) -> None:
        if event.claim is None:
            return
        item, who, fence = event.claim.item, event.claim.holder, event.claim.fence
        assert who is not None
        if event.type is EventType.CLAIM_RELEASED:
            assert self.holds.pop(item) == (who, fence)
            return
        assert fence > self.fence, "fences grow strictly"
        assert who not in self.desk.dead, "nothing is granted to the dead"
        assert not self.others(item, who), "one holder"
        assert not self.overtaken(item, who), "in order of arrival"
        self.line = [each for each in self.line if each[1:] != (who, item)]
        self.fence = fence
        self.holds[item] = (who, fence)

    def waiting(self) -> set[str]:
        return {request for request, _, _ in self.line}

    def overtaken(self, item: str, who: ProcessIdentity) -> list[str]:
        """Who came earlier for something of the same, lives, and did not get it."""
        before = list(itertools.takewhile(lambda each: each[1:] != (who, item), self.line))
        stalled = {each.asks.request for each in self.desk.world.book.waiters() if each.retry_at is not None}
        return [
            request
            for request, waiter, other in before
            if waiter != who
            and self.can_be_asked(waiter)
            and request not in stalled
            and overlaps(Item(other), Item(item))
            and not self.keeps_waiting(who, other)
        ]

    def can_be_asked(self, who: ProcessIdentity) -> bool:
        return who not in self.desk.dead and who not in self.desk.hidden

    def others(self, item: str, who: ProcessIdentity) -> list[str]:
        return [
            held
            for held, (holder, _) in self.holds.items()
            if holder != who and holder not in self.desk.dead and overlaps(Item(held), Item(item))
        ]

    # --- the promises --------------------------------------------------------------------------------

    @invariant()
    def nobody_is_passed_over_unasked(self) -> None:
        aside = {each.process for each in self.desk.world.book.waiters() if each.retry_at is not None}
        assert aside <= self.doubted

    @invariant()
    def the_book_holds_what_was_told(self) -> None:
        held = {claim.item: (claim.holder, claim.fence) for claim in self.desk.world.book.holding()}
        assert held == self.holds

    @invariant()
    def no_two_holders_overlap(self) -> None:
        held = list(self.desk.world.book.holding())
        for one in held:
            for other in held:
                assert one.holder == other.holder or not overlaps(one.item, other.item)

    @invariant()
    def the_journal_gives_the_same_rows(self) -> None:
        rows = {}
        for event in self.desk.events:
            if event.claim is not None:
                rows[event.item] = apply_claim(event)
        book = self.desk.world.book
        assert {item: book.claims[item] for item in rows} == rows

    @invariant()
    def indices_follow_from_rows(self) -> None:
        book = self.desk.world.book
        again = ClaimsState(book.claims.values(), book.requests.values())
        assert again.claims == book.claims
        assert {pid: set(held) for pid, held in again.held.items()} == {
            pid: set(held) for pid, held in book.held.items()
        }
        assert again.held_paths == book.held_paths
        assert {fence: set(ids) for fence, ids in again.told.items()} == {
            fence: set(ids) for fence, ids in book.told.items()
        }
        assert set(book.asked) == {waiter.asks.request for waiter in book.waiters()}
        assert set(book.waiting_paths) == {item for item in book.waiting if item.startswith("path:")}

    @invariant()
    def nobody_waits_for_what_is_free(self) -> None:
        """Except whoever could not be asked, or stands behind an earlier one."""
        book = self.desk.world.book
        for waiter in book.waiters():
            if waiter.retry_at is not None or not self.can_be_asked(waiter.process):
                continue
            earlier = [
                each
                for each in book.waiters()
                if each.arrival < waiter.arrival and overlaps(each.asks.item, waiter.asks.item)
            ]
            in_the_way = [each for each in book.holding() if overlaps(each.item, waiter.asks.item)]
            assert earlier or in_the_way


def stored(desk: Desk) -> ClaimsState:
    """What a store would give back."""
    book = desk.world.book
    requests: Iterable = book.requests.values()
    return ClaimsState(book.claims.values(), requests, fence=FIRST)


Ledgers.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestLedgers = Ledgers.TestCase
