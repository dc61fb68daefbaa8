"""Shared claims in the pure core: the one ledger's rules on another's row, and the mirror of what it gave us."""

import pytest

from headcount.core.claims.shared_with_fleet import SharedItem, decide_shared, mirrored
from headcount.core.values.claim import (
    Acquire,
    Caller,
    Claim,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Release,
    Released,
    SharedFreed,
    SharedGranted,
)
from headcount.core.values.events import EventType, Watch
from headcount.core.values.item import Item, is_shared
from headcount.core.values.process import BootAndNamespace
from headcount.core.values.verdict import Proof, alive, dead
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import T0, process

A, B = process(100), process(200)
FAR = process(
    100, place=BootAndNamespace("other", "boot-far", 4026531836)
)  # the same numbers on another machine
TASK = Item("task:AUTH-12")


def held_by(who, fence=50):
    return Claim(TASK, fence, who, since=T0)


def acquire(who, request="r", **more):
    return Acquire(TASK, Caller(who), request, **more)


def decided(known, command, *, living=(A, B), killed=()):
    verdicts = {each: alive("it lives") for each in living} | {
        each: dead(Proof.EXITED, "exited") for each in killed
    }
    return decide_shared(Desk().world, known, command, T0, verdicts)


@pytest.mark.parametrize(
    "item, shared",
    [("task:x", True), ("branch:r#m", True), ("anything:x", True), ("path:/a", False), ("port:80", False), ("local:x", False)],
)  # fmt: skip
def test_what_means_one_thing_everywhere_is_shared(item, shared):
    assert is_shared(Item(item)) is shared


def test_a_free_item_is_granted_and_our_own_book_is_not_touched():
    desk = Desk()
    decision = decide_shared(desk.world, SharedItem(), acquire(A), T0, {A: alive("it lives")})
    assert isinstance(decision.answer, Granted) and decision.granted.holder == A
    assert decision.remembered.id == "r"
    assert desk.held() == {} and desk.world.seq == 0


def test_the_same_pid_on_another_machine_holds_nothing_here():
    decision = decided(SharedItem(held_by(FAR)), acquire(A))
    assert isinstance(decision.answer, Held) and decision.granted is None
    assert decided(SharedItem(held_by(FAR)), Release(TASK, Caller(A))).answer.code == "not-yours"


def test_a_dead_holder_of_ours_is_freed_and_anothers_never_is():
    ours = decided(SharedItem(held_by(A), ours=True), acquire(B), killed=[A], living=[B])
    assert isinstance(ours.answer, Granted) and ours.freed.freed is Freed.DIED
    theirs = decided(SharedItem(held_by(A)), acquire(B), killed=[A], living=[B])
    assert isinstance(theirs.answer, Held) and theirs.freed is None


def test_whoever_came_earlier_goes_first():
    ahead = (acquire(FAR, "earlier", wait_until=T0 + 5),)
    assert isinstance(decided(SharedItem(ahead=ahead), acquire(A)).answer, Held)
    assert isinstance(decided(SharedItem(), acquire(A)).answer, Granted)


def test_a_release_frees_with_its_reason():
    decision = decided(SharedItem(held_by(A), ours=True), Release(TASK, Caller(A), 50))
    assert isinstance(decision.answer, Released) and decision.freed.freed is Freed.RELEASED
    assert isinstance(decided(SharedItem(held_by(A)), Release(TASK, Caller(A), 49)).answer, ClaimRefused)


# --- the mirror ------------------------------------------------------------------------------------


def test_a_grant_of_the_ledger_is_mirrored_watched_and_freed_by_death():
    desk = Desk()
    desk.tell(SharedGranted(held_by(A)))
    assert desk.decision.effects == [Watch(A)]
    assert [claim.item for claim in mirrored(desk.world)] == [TASK]
    desk.die(A)
    assert desk.events[-1].type is EventType.CLAIM_RELEASED
    assert desk.events[-1].facts == {"because": "died"}


def test_old_news_change_nothing():
    desk = Desk()
    desk.tell(SharedGranted(held_by(A, 50)))
    desk.tell(SharedGranted(held_by(B, 40)))
    desk.tell(SharedFreed(TASK, 40, Freed.LEASE_LOST))
    desk.tell(SharedGranted(held_by(A, 50)))
    assert desk.holder(TASK) == A and len(desk.events) == 1


def test_a_newer_grant_ends_what_was_lost_unheard():
    desk = Desk()
    desk.tell(SharedGranted(held_by(A, 50)))
    desk.tell(SharedGranted(held_by(B, 60)))
    assert [event.facts.get("because") for event in desk.events] == [None, "lease-lost", None]
    assert desk.holder(TASK) == B


def test_a_loss_is_told_with_its_reason():
    desk = Desk()
    desk.tell(SharedGranted(held_by(A)))
    desk.tell(SharedFreed(TASK, 50, Freed.LEASE_LOST))
    assert desk.holder(TASK) is None
    assert desk.events[-1].facts == {"because": "lease-lost"}


def test_our_own_fences_go_on_above_what_the_ledger_gave():
    desk = Desk()
    desk.tell(SharedGranted(held_by(A, 9_000)))
    assert desk.acquire("path:/x", B).claim.fence > 9_000
