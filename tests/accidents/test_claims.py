"""Accidents C1 to C12 of claims: each story on our ledger, and on the naive one that had the accident.

Rules of this file
  1. A story ends with `True` when the accident happened. Ours never does; the naive one always does.
  2. A naive ledger is the shortest form of what the earlier tool did.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, Granted, Released
from headcount.core.values.item import Item
from headcount.core.values.report import Turn
from headcount.core.values.verdict import alive
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.store.interface import StoreFault
from headcount.system.clock import SystemClock
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import HERE, bound, process, report

TASK = "task:AUTH-12"


@dataclass
class Person:
    pid: int
    conversation: str = "conv-a"
    terminal: str = "win-cc-39623"
    name: str = "coder"
    incarnation: int = 0
    dead: bool = field(default=False)

    @property
    def process(self):
        return process(self.pid, inode=self.pid * 1000 + self.incarnation)


class Ours:
    def __init__(self) -> None:
        self.desk = Desk()

    def acquire(self, who: Person, item: str = TASK) -> int | None:
        if not who.dead:
            self.desk.host(who.process, who.conversation)
        answer = self.desk.acquire(item, who.process)
        return answer.claim.fence if isinstance(answer, Granted) else None

    def release(self, who: Person, item: str = TASK) -> bool:
        return isinstance(self.desk.release(item, who.process), Released)

    def holds(self, who: Person, item: str = TASK) -> bool:
        return self.desk.holder(item) == who.process

    def waits(self, who: Person, item: str = TASK) -> None:
        self.desk.acquire(item, who.process, wait=60)

    def hear(self, who: Person, word: Turn) -> None:
        self.desk.tell(report(word.value, self.desk.now, who.conversation, word, anchor=bound(who.process)))

    def pass_time(self, seconds: float) -> None:
        self.desk.pass_time(seconds)

    def die(self, who: Person) -> None:
        who.dead = True
        self.desk.die(who.process)

    def is_listed(self, item: str = TASK) -> bool:
        return item in self.desk.held()

    def may_be_taken(self, item: str = TASK) -> bool:
        return self.desk.holder(item) is None


class Naive:
    """A dictionary of names. What each subclass does wrong is its docstring."""

    def __init__(self) -> None:
        self.held: dict[str, object] = {}
        self.line: list[Person] = []

    def key(self, who: Person) -> object:
        return (who.pid, who.incarnation)

    def acquire(self, who: Person, item: str = TASK) -> int | None:
        if self.held.setdefault(item, self.key(who)) == self.key(who):
            return 1
        return None

    def release(self, who: Person, item: str = TASK) -> bool:
        return self.held.pop(item, None) is not None

    def holds(self, who: Person, item: str = TASK) -> bool:
        return self.held.get(item) == self.key(who)

    def waits(self, who: Person, item: str = TASK) -> None:
        self.line.append(who)

    def hear(self, who: Person, word: Turn) -> None: ...

    def pass_time(self, seconds: float) -> None: ...

    def die(self, who: Person) -> None:
        who.dead = True
        for item, holder in list(self.held.items()):
            if holder == self.key(who):
                del self.held[item]

    def is_listed(self, item: str = TASK) -> bool:
        return item in self.held

    def may_be_taken(self, item: str = TASK) -> bool:
        return item not in self.held


class ByTerminal(Naive):
    """C1, I3: whoever sits in the same terminal is the same session."""

    def key(self, who: Person) -> object:
        return who.terminal


class TwoTables(Naive):
    """C2: a list for people and a table for locks; releasing forgets the first."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: set[str] = set()

    def acquire(self, who: Person, item: str = TASK) -> int | None:
        self.shown.add(item)
        return super().acquire(who, item)

    def is_listed(self, item: str = TASK) -> bool:
        return item in self.shown


class AlwaysSuccess(Naive):
    """C3: the update changed no row, and success was printed."""

    def release(self, who: Person, item: str = TASK) -> bool:
        if self.holds(who, item):
            del self.held[item]
        return True


class Reaffirms(Naive):
    """C4: asking again writes the asker's name, whoever was there."""

    def hear(self, who: Person, word: Turn) -> None:
        self.held[TASK] = self.key(who)


class OneEach(Naive):
    """C5: a new claim releases the old one of the same holder."""

    def acquire(self, who: Person, item: str = TASK) -> int | None:
        fence = super().acquire(who, item)
        for other in [each for each, holder in self.held.items() if holder == self.key(who) and each != item]:
            del self.held[other]
        return fence


class NewestHeartbeat(Naive):
    """C6: `release` frees the claim, whoever asks."""


class LooksFirst(Naive):
    """C7: everybody looks, then everybody takes."""


class Ghosts(Naive):
    """C9: the first in line gets it, alive or not."""

    def release(self, who: Person, item: str = TASK) -> bool:
        del self.held[item]
        if self.line:
            self.held[item] = self.key(self.line.pop(0))
        return True


class ByName(Naive):
    """C10: the name is the identity, and a death is not noticed."""

    def key(self, who: Person) -> object:
        return who.name

    def die(self, who: Person) -> None:
        who.dead = True


class FreesAtCompaction(Naive):
    """C11: a compaction starts a session anew, without its claims."""

    def hear(self, who: Person, word: Turn) -> None:
        if word is Turn.COMPACTED:
            self.held.pop(TASK, None)


class Leases(Naive):
    """C12: a claim not renewed for a while is stale."""

    def pass_time(self, seconds: float) -> None:
        if seconds > 900:
            self.held.clear()


# --- the stories -------------------------------------------------------------------------------------


def inherits_by_its_terminal(ledger) -> bool:
    old, new = Person(100), Person(200, conversation="conv-b")
    ledger.acquire(old)
    return ledger.acquire(new) is not None


def two_tables_drift(ledger) -> bool:
    who = Person(100)
    ledger.acquire(who)
    ledger.release(who)
    return ledger.is_listed() != (not ledger.may_be_taken())


def success_without_a_change(ledger) -> bool:
    ledger.acquire(Person(100))
    return ledger.release(Person(200)) and ledger.holds(Person(100))


def a_word_overwrites_the_holder(ledger) -> bool:
    holder, other = Person(100), Person(200, conversation="conv-b")
    ledger.acquire(holder)
    ledger.hear(other, Turn.PROMPTED)
    return not ledger.holds(holder)


def a_child_item_frees_its_parent(ledger) -> bool:
    who = Person(100)
    ledger.acquire(who, "task:parent")
    ledger.acquire(who, "task:parent/child")
    return not ledger.holds(who, "task:parent")


def a_stranger_releases(ledger) -> bool:
    ledger.acquire(Person(100))
    ledger.release(Person(200))
    return ledger.may_be_taken()


def a_dead_waiter_is_granted(ledger) -> bool:
    holder, ghost = Person(100), Person(200, conversation="conv-b")
    ledger.acquire(holder)
    ledger.waits(ghost)
    ledger.die(ghost)
    ledger.release(holder)
    return not ledger.may_be_taken()


def a_name_comes_back_to_a_dead_ones_task(ledger) -> bool:
    old, new = Person(100), Person(100, incarnation=1, conversation="conv-b")
    ledger.acquire(old)
    ledger.die(old)
    return ledger.holds(new)


def compaction_frees(ledger) -> bool:
    who = Person(100)
    ledger.acquire(who)
    ledger.hear(who, Turn.COMPACTING)
    ledger.hear(who, Turn.COMPACTED)
    return not ledger.holds(who)


def slowness_is_robbed(ledger) -> bool:
    slow, other = Person(100), Person(200, conversation="conv-b")
    ledger.acquire(slow)
    ledger.pass_time(86_400.0)
    return ledger.acquire(other) is not None


STORIES: list[tuple[str, Callable[..., bool], type[Naive]]] = [
    ("C1", inherits_by_its_terminal, ByTerminal),
    ("C2", two_tables_drift, TwoTables),
    ("C3", success_without_a_change, AlwaysSuccess),
    ("C4", a_word_overwrites_the_holder, Reaffirms),
    ("C5", a_child_item_frees_its_parent, OneEach),
    ("C6", a_stranger_releases, NewestHeartbeat),
    ("C9", a_dead_waiter_is_granted, Ghosts),
    ("C10", a_name_comes_back_to_a_dead_ones_task, ByName),
    ("C11", compaction_frees, FreesAtCompaction),
    ("C12", slowness_is_robbed, Leases),
]


def happens_only_to_the_naive(accident: str) -> None:
    ((_, story, naive),) = [each for each in STORIES if each[0] == accident]
    assert story(Ours()) is False
    assert story(naive()) is True


def test_C1_nobody_inherits_by_its_terminal() -> None:
    happens_only_to_the_naive("C1")


def test_C2_what_is_listed_is_what_is_held() -> None:
    happens_only_to_the_naive("C2")


def test_C3_a_release_that_changes_nothing_is_no_success() -> None:
    happens_only_to_the_naive("C3")


def test_C4_a_word_of_another_does_not_overwrite_the_holder() -> None:
    happens_only_to_the_naive("C4")


def test_C5_a_second_claim_does_not_free_the_first() -> None:
    happens_only_to_the_naive("C5")


def test_C6_a_stranger_releases_nothing() -> None:
    happens_only_to_the_naive("C6")


def test_C9_a_dead_waiter_is_granted_nothing() -> None:
    happens_only_to_the_naive("C9")


def test_C10_a_name_that_comes_back_does_not_hold_a_dead_ones_task() -> None:
    happens_only_to_the_naive("C10")


def test_C11_compaction_frees_nothing() -> None:
    happens_only_to_the_naive("C11")


def test_C12_slowness_is_not_robbed() -> None:
    happens_only_to_the_naive("C12")


# --- C7 and C8 are about moments, so they have stories of their own --------------------------------------


def winners(looks: list[bool]) -> int:
    return sum(looks)


def test_C7_two_that_ask_at_the_same_moment_have_one_winner():
    """Naive: both look (free), both take."""
    naive = LooksFirst()
    looked = [naive.may_be_taken() for _ in range(2)]
    assert winners(looked) == 2
    desk = Desk()
    both = [Acquire(Item(TASK), Caller(Person(pid).process), f"r{pid}") for pid in (100, 200)]
    answers = desk.tell(*both)
    assert winners([isinstance(each, Granted) for each in answers]) == 1


class FullDisk:
    async def commit(self, *_: object) -> None:
        raise StoreFault("full", "no room")


async def test_C8_what_is_not_on_the_disk_is_not_granted():
    """Naive: the lock is answered, and written a second later; then the disk is full."""
    naive = Naive()
    answered = naive.acquire(Person(100)) is not None
    naive.held.clear()  # the write failed: at the next start it is not there
    assert answered and naive.acquire(Person(200)) is not None

    world = World(HERE)
    loop = Loop(
        world,
        FullDisk(),
        SystemClock(),
        start_effects=lambda effects: None,
        tell=lambda events, world: pytest.fail("nothing is told"),
        prove=lambda process: alive("it lives"),
    )
    running = asyncio.create_task(loop.run())
    with pytest.raises(NotStored):
        await loop.command(Acquire(Item(TASK), Caller(Person(100).process), "r"))
    assert world.book.claims == {}
    loop.stop()
    running.cancel()
