"""The ledger, asked again and given back: requests that come twice, releases, hand-offs, an agent above."""

import pytest

from headcount.core.state.claims import REQUESTS_MOST, ClaimsState
from headcount.core.values.claim import (
    Acquire,
    Caller,
    CallerKind,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Released,
)
from headcount.core.values.evidence import Retire
from headcount.core.values.item import Item
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import T0, process

A, B, C, D = process(100), process(200), process(300), process(400)
TASK = "task:AUTH-12"


# --- asking twice ----------------------------------------------------------------------------------


def test_the_same_request_is_the_same_answer():
    desk = Desk()
    first = desk.acquire(TASK, A, request="r")
    assert desk.acquire(TASK, A, request="r") == Granted(first.claim, again=True, retold=True)
    assert not desk.acquire(TASK, A, request="other").retold


def test_a_late_copy_of_a_request_takes_nothing():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.release(TASK, A)
    answer = desk.acquire(TASK, A, request="r")
    assert isinstance(answer, ClaimRefused)
    assert answer.code == "request-over"
    assert desk.held() == {}


def test_a_request_id_is_of_one_item_and_one_process():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    assert desk.acquire("task:other", A, request="r").code == "request-reused"
    assert desk.acquire(TASK, B, request="r").code == "request-reused"


def test_requests_are_remembered_over_a_restart_and_forgotten_with_time():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.release(TASK, A)
    book = desk.world.book
    again = Desk(ClaimsState(book.claims.values(), book.requests.values()))
    assert again.acquire(TASK, A, request="r").code == "request-over"
    again.tell(Retire(T0 + 1, 10))
    assert again.world.book.requests == {}


def test_the_newest_requests_are_remembered_and_no_more(monkeypatch):
    assert REQUESTS_MOST > 1000
    monkeypatch.setattr("headcount.core.state.claims.REQUESTS_MOST", 3)
    desk = Desk()
    for nth in range(5):
        desk.acquire(f"task:{nth}", A, request=f"r{nth}")
    desk.tell(*(Acquire(Item(f"task:{nth}"), Caller(A), f"r{nth}") for nth in range(5, 8)))
    assert list(desk.world.book.requests) == ["r5", "r6", "r7"]
    assert list(desk.decision.ledger.forgotten) == ["r2", "r3", "r4"]
    assert len(desk.held()) == 8


# --- giving back -----------------------------------------------------------------------------------


def test_only_the_holder_releases():
    """C6."""
    desk = Desk()
    claim = desk.acquire(TASK, A).claim
    for other in (B, None):
        assert desk.release(TASK, other).code == "not-yours"
    assert desk.release(TASK, B, claim.fence).code == "not-yours"
    assert desk.holder(TASK) == A
    assert desk.release(TASK, A, claim.fence) == Released(claim, Freed.RELEASED)
    assert desk.held() == {}


def test_a_release_with_an_old_fence_does_not_take_the_new_claim():
    desk = Desk()
    old = desk.acquire(TASK, A).claim.fence
    desk.release(TASK, A)
    desk.acquire(TASK, A)
    assert desk.release(TASK, A, old).code == "stale"
    assert desk.holder(TASK) == A


def test_releasing_what_nobody_holds_is_not_called_success():
    """C3."""
    desk = Desk()
    assert desk.release(TASK, A).code == "not-held"
    fence = desk.acquire(TASK, A).claim.fence
    desk.release(TASK, A)
    assert desk.release(TASK, A).code == "not-held"
    assert desk.release(TASK, A, fence).again  # a retry of that very release is harmless


def test_the_operator_takes_it_away_and_that_is_told():
    desk = Desk()
    desk.acquire(TASK, A)
    answer = desk.force(TASK)
    assert answer.because is Freed.FORCED
    assert desk.events[-1].facts == {"because": "forced", "by": "operator"}
    assert isinstance(desk.acquire(TASK, B), Granted)
    assert desk.release(TASK, A).code == "not-yours"


@pytest.mark.parametrize("kind", [CallerKind.AGENT, CallerKind.NOBODY])
def test_force_is_for_people(kind):
    desk = Desk()
    desk.acquire(TASK, A)
    assert desk.force(TASK, Caller(B, kind=kind)).code == "operator-only"
    assert desk.holder(TASK) == A


# --- under an agent above --------------------------------------------------------------------------


def test_a_descendant_works_under_the_claim_and_cannot_release_it():
    desk = Desk()
    claim = desk.acquire(TASK, A).claim
    assert desk.acquire(TASK, B, above=[C, A]) == Granted(claim, again=True, under=True)
    assert desk.release(TASK, B, above=(C, A)).code == "not-yours"
    assert desk.held() == {TASK: A}


def test_what_a_descendant_holds_is_its_own():
    desk = Desk()
    desk.acquire(TASK, B, above=[A])
    assert isinstance(desk.acquire(TASK, A), Held)


# --- handing off -----------------------------------------------------------------------------------


def test_a_hand_off_gives_a_higher_fence_and_is_never_free_in_between():
    desk = Desk()
    to = desk.host(B, "conv-b")
    old = desk.acquire(TASK, A).claim
    desk.acquire(TASK, C, wait=60)
    answer = desk.hand_off(TASK, A, to, old.fence)
    assert isinstance(answer, Granted)
    assert answer.claim.fence > old.fence
    assert desk.held() == {TASK: B}
    assert [event.facts.get("because") for event in desk.events[-2:]] == ["handed-off", None]
    assert desk.release(TASK, A, old.fence).code == "stale"


def test_only_the_holder_hands_off_and_only_to_the_living():
    desk = Desk()
    to = desk.host(B, "conv-b")
    desk.acquire(TASK, A)
    assert desk.hand_off(TASK, C, to).code == "not-yours"
    assert desk.hand_off(TASK, A, "nobody").code == "no-such-heir"
    assert desk.hand_off(TASK, A, to, 7).code == "stale"
    desk.hidden.add(B)
    assert desk.hand_off(TASK, A, to).code == "unverified"
    desk.hidden.clear()
    desk.die(B)
    assert desk.hand_off(TASK, A, to).code == "no-such-heir"
    assert desk.held() == {TASK: A}


def test_a_part_of_what_one_keeps_cannot_be_handed_off():
    desk = Desk()
    to = desk.host(B, "conv-b")
    desk.acquire("path:/a/**", A)
    desk.acquire("path:/a/b", A)
    assert desk.hand_off("path:/a/b", A, to).code == "overlaps"
    assert desk.held() == {"path:/a/**": A, "path:/a/b": A}


def test_under_the_claim_of_a_file_nobody_works_on_its_tree():
    """What is above covers less than is asked: the rest of the tree would be nobody's, and a stranger's."""
    desk = Desk()
    desk.acquire("path:/r/a.py", A)
    assert isinstance(desk.acquire("path:/r/**", B, above=[A]), Held)
    tree = desk.acquire("path:/s/**", A).claim
    desk.acquire("path:/s/a.py", A)
    assert desk.acquire("path:/s/b.py", B, above=[A]) == Granted(tree, again=True, under=True)
    assert desk.acquire("path:/s/**", B, above=[A]) == Granted(tree, again=True, under=True)
