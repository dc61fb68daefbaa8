"""The checker of histories has tests of its own: what is right passes, what is broken is caught."""

import random
import threading
import time
from collections.abc import Callable

import pytest

from tests.rig.claims.history_checker import Does, Operation, Says, broken_items, is_linearizable

ITEM = "task:x"


def acquired(process: str, called: float, answered: float, fence: int) -> Operation:
    return Operation(process, Does.ACQUIRE, ITEM, called, answered, Says.GRANTED, fence)


def refused(process: str, called: float, answered: float, holder: str) -> Operation:
    return Operation(process, Does.ACQUIRE, ITEM, called, answered, Says.HELD, holder=holder)


def released(process: str, called: float, answered: float, fence: int) -> Operation:
    return Operation(process, Does.RELEASE, ITEM, called, answered, Says.RELEASED, fence)


def checked(called: float, answered: float, fence: int, says: Says) -> Operation:
    return Operation("guard", Does.CHECK, ITEM, called, answered, says, fence)


def died(process: str, called: float, answered: float) -> Operation:
    return Operation(process, Does.DIE, "", called, answered)


RIGHT = {
    "one after the other": [acquired("a", 0, 1, 1), released("a", 2, 3, 1), acquired("b", 4, 5, 2)],
    "overlapping calls may be swapped": [acquired("b", 0, 9, 2), acquired("a", 1, 2, 1), released("a", 3, 4, 1)],
    "a refusal while it is held": [acquired("a", 0, 1, 1), refused("b", 2, 3, "a")],
    "asking again": [acquired("a", 0, 1, 1), acquired("a", 2, 3, 1)],
    "free at death": [acquired("a", 0, 1, 1), died("a", 2, 4), acquired("b", 3, 5, 2)],
    "a lost answer that took effect": [
        Operation("a", Does.ACQUIRE, ITEM, 0), refused("b", 1, 2, "a"), died("a", 3, 4), acquired("b", 5, 6, 7),
    ],
    "a lost answer that did not": [Operation("a", Does.ACQUIRE, ITEM, 0), acquired("b", 1, 2, 1)],
    "a check beside a release": [
        acquired("a", 0, 1, 1), released("a", 2, 5, 1), checked(3, 4, 1, Says.CURRENT), checked(3, 6, 1, Says.STALE),
    ],
}  # fmt: skip
BROKEN = {
    "two holders": [acquired("a", 0, 1, 1), acquired("b", 2, 3, 2)],
    "two winners at once": [acquired("a", 0, 3, 1), acquired("b", 1, 2, 2)],
    "a fence given again": [acquired("a", 0, 1, 5), released("a", 2, 3, 5), acquired("b", 4, 5, 5)],
    "a fence that shrinks": [acquired("a", 0, 1, 5), released("a", 2, 3, 5), acquired("b", 4, 5, 4)],
    "a refusal by nobody": [refused("b", 0, 1, "a")],
    "a refusal after the release was answered": [
        acquired("a", 0, 1, 1), released("a", 2, 3, 1), refused("b", 4, 5, "a"),
    ],
    "not free after death": [acquired("a", 0, 1, 1), died("a", 2, 3), refused("b", 4, 5, "a")],
    "granted to the dead": [died("a", 0, 1), acquired("a", 2, 3, 1)],
    "a dead one's lost call that took effect": [
        died("a", 1, 2), Operation("a", Does.ACQUIRE, ITEM, 3), refused("b", 4, 5, "a"),
    ],
    "robbed while alive": [acquired("a", 0, 1, 1), acquired("b", 2, 3, 2), checked(4, 5, 1, Says.CURRENT)],
    "stale is called current": [
        acquired("a", 0, 1, 1), released("a", 2, 3, 1), acquired("b", 4, 5, 2), checked(6, 7, 1, Says.CURRENT),
    ],
    "a release of another's": [acquired("a", 0, 1, 1), released("b", 2, 3, 1)],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_one_ledger_could_have_said_passes(name):
    assert broken_items(RIGHT[name]) == []


@pytest.mark.parametrize("name", BROKEN)
def test_what_no_ledger_could_have_said_is_caught(name):
    assert broken_items(BROKEN[name]) == [ITEM]


def test_items_are_checked_each_by_itself():
    from dataclasses import replace

    other = [replace(op, item="task:y") for op in RIGHT["one after the other"]]
    assert broken_items([*BROKEN["two holders"], *other]) == [ITEM]


def test_a_long_history_of_many_is_checked_in_reasonable_time():
    history, chance = [], random.Random(7)
    for fence in range(1, 3001):
        who, now = chance.choice("abcdefgh"), fence * 7.5
        history += [acquired(who, now, now + 5, fence), refused("z", now + 4, now + 7, who)]
        history.append(released(who, now + 6, now + 8, fence))
    before = time.monotonic()
    assert is_linearizable(history)
    assert time.monotonic() - before < 30


# --- deliberately broken ledgers, used by threads ----------------------------------------------------


class Locked:
    """A right one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder: str | None = None
        self.fence = 0

    def acquire(self, who: str) -> tuple[Says, int | None, str | None]:
        with self.lock:
            if self.holder not in (None, who):
                return Says.HELD, None, self.holder
            self.fence += self.holder is None
            self.holder = who
            return Says.GRANTED, self.fence, None

    def release(self, who: str) -> Says:
        with self.lock:
            if self.holder != who:
                return Says.GONE
            self.holder = None
            return Says.RELEASED


class LooksThenTakes(Locked):
    """C7: look, then take, with a pause between: two winners."""

    def acquire(self, who: str) -> tuple[Says, int | None, str | None]:
        holder = self.holder
        if holder not in (None, who):
            return Says.HELD, None, holder
        time.sleep(0.0005)
        self.fence += holder is None
        self.holder = who
        return Says.GRANTED, self.fence, None


class ReusesFences(Locked):
    """A fence per holder, counted from the start again."""

    def release(self, who: str) -> Says:
        said = super().release(who)
        if said is Says.RELEASED:
            self.fence = max(0, self.fence - 1)
        return said


class ReaffirmsOverAnother(Locked):
    """C4: now and then asking overwrites the holder."""

    def acquire(self, who: str) -> tuple[Says, int | None, str | None]:
        with self.lock:
            if self.fence % 7 == 3:
                self.holder = None
        return super().acquire(who)


def history_of(ledger: Locked, clients: int = 8, rounds: int = 60) -> list[Operation]:
    history: list[Operation] = []
    together = threading.Barrier(clients)

    def work(name: str) -> None:
        chance = random.Random(name)
        together.wait()
        for _ in range(rounds):
            called = time.monotonic()
            says, fence, holder = ledger.acquire(name)
            history.append(Operation(name, Does.ACQUIRE, ITEM, called, time.monotonic(), says, fence, holder))
            time.sleep(chance.random() * 0.0005)  # so that the others come in between
            if says is Says.GRANTED:
                called = time.monotonic()
                said = ledger.release(name)
                history.append(Operation(name, Does.RELEASE, ITEM, called, time.monotonic(), said, fence))

    threads = [threading.Thread(target=work, args=(f"client-{n}",)) for n in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return history


def test_a_right_ledger_passes():
    assert broken_items(history_of(Locked())) == []


@pytest.mark.parametrize("broken", [LooksThenTakes, ReusesFences, ReaffirmsOverAnother])
def test_a_deliberately_broken_ledger_is_caught(broken: Callable[[], Locked]):
    assert broken_items(history_of(broken())) == [ITEM]
