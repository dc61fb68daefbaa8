"""Withdrawing a request: what its caller gave up is free, what others were told stays, and its id is never granted."""

import pytest

from headcount.core.state.claims import ClaimsState
from headcount.core.values.claim import (
    Accepted,
    Acquire,
    Caller,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Released,
    Withdraw,
)
from headcount.core.values.item import Item
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import process

A, B = process(100), process(200)
TASK = "task:AUTH-12"


def again(desk: Desk) -> Desk:
    """The same ledger after a restart."""
    book = desk.world.book
    return Desk(ClaimsState(book.claims.values(), book.requests.values(), book.fence))


@pytest.mark.parametrize("by", [A, None])
def test_a_withdrawn_request_gives_back_what_it_was_granted(by):
    desk = Desk()
    claim = desk.acquire(TASK, A, request="r").claim
    assert desk.withdraw("r", by) == Released(claim, Freed.WITHDRAWN)
    assert desk.held() == {}
    assert desk.events[-1].facts == {"because": "withdrawn"}


def test_a_withdrawn_claim_goes_to_the_next_in_line():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.acquire(TASK, B, wait=60, request="b")
    desk.withdraw("r", A)
    assert desk.holder(TASK) == B
    assert isinstance(desk.answers["b"], Granted)


def test_a_withdrawn_request_is_never_granted_not_even_after_a_restart():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.withdraw("r", A)
    for each in (desk, again(desk)):
        answer = each.acquire(TASK, A, request="r")
        assert isinstance(answer, ClaimRefused) and answer.code == "request-withdrawn"
        assert each.acquire(TASK, A, request="r", wait=60).code == "request-withdrawn"
        assert each.held() == {}


def test_a_withdrawal_that_comes_before_its_request_wins():
    desk = Desk()
    assert desk.withdraw("r", A) == Accepted()
    assert desk.acquire(TASK, A, request="r").code == "request-withdrawn"
    first = Withdraw("s", Item(TASK), Caller(A))
    desk.tell(first, Acquire(Item(TASK), Caller(A), "s"))
    assert desk.held() == {}


def test_a_request_that_was_told_again_releases_nothing_that_was_held_before():
    desk = Desk()
    desk.acquire(TASK, A, request="outer")
    assert desk.acquire(TASK, A, request="inner").again
    assert desk.withdraw("inner", A) == Accepted()
    assert desk.held() == {TASK: A}
    assert isinstance(desk.withdraw("outer", A), Released)


@pytest.mark.parametrize("by", [A, None])
@pytest.mark.parametrize("restarts", [False, True])
def test_whoever_was_told_again_keeps_the_claim_of_a_request_that_was_withdrawn_and_gives_it_back(
    by, restarts
):
    desk = Desk()
    desk.acquire(TASK, A, request="given up")
    desk.acquire(TASK, A, request="later")
    assert desk.withdraw("given up", by) == Accepted()
    assert desk.held() == {TASK: A}
    desk = again(desk) if restarts else desk
    assert isinstance(desk.withdraw("later", A), Released)
    assert desk.held() == {}


def test_a_withdrawal_ends_no_claim_that_the_same_process_got_afterwards():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.release(TASK, A)
    desk.acquire(TASK, A, request="next")
    assert desk.withdraw("r", A) == Accepted()
    assert desk.held() == {TASK: A}


def test_what_was_handed_on_is_not_given_back_by_whoever_had_it():
    desk = Desk()
    to = desk.host(B, "conv-b")
    desk.acquire(TASK, A, request="r")
    desk.hand_off(TASK, A, to)
    desk.withdraw("r", A)
    assert desk.held() == {TASK: B}


def test_another_process_withdraws_nothing():
    desk = Desk()
    desk.acquire(TASK, A, request="held")
    desk.acquire(TASK, B, request="waits", wait=60)
    assert desk.withdraw("held", B).code == "not-yours"
    assert desk.withdraw("waits", A).code == "not-yours"
    assert desk.held() == {TASK: A} and desk.world.book.asked == {"waits": TASK}


def test_a_waiter_that_is_withdrawn_is_answered_and_gets_nothing():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, request="r", wait=60)
    desk.withdraw("r", B)
    assert desk.answers["r"].code == "request-withdrawn"
    desk.release(TASK, A)
    assert desk.held() == {}


# --- a connection that ended before its answer was read ----------------------------------------------


def test_whoever_disconnected_may_ask_again_with_the_same_id():
    desk = Desk()
    first = desk.acquire(TASK, A, request="r").claim
    desk.withdraw("r", None)
    second = desk.acquire(TASK, A, request="r")
    assert isinstance(second, Granted) and not second.again and second.claim.fence > first.fence
    assert isinstance(again(desk).acquire(TASK, B), Held)


@pytest.mark.parametrize("restarts", [False, True])
def test_whoever_disconnected_may_ask_again_also_while_another_request_keeps_the_claim(restarts):
    desk = Desk()
    claim = desk.acquire(TASK, A, request="r").claim
    desk.acquire(TASK, A, request="later")
    assert desk.withdraw("r", None) == Accepted()
    desk = again(desk) if restarts else desk
    assert desk.acquire(TASK, B, request="r").code == "request-reused"
    assert desk.acquire("task:other", A, request="r").code == "request-reused"
    answer = desk.acquire(TASK, A, request="r")
    assert isinstance(answer, Granted) and answer.claim == claim and not answer.retold
    assert desk.withdraw("later", A) == Accepted(), "the retry was told of it"
    assert desk.held() == {TASK: A}
    assert isinstance(desk.withdraw("r", None), Released), "nobody heard the retry either"


def test_a_retry_after_a_disconnection_waits_if_the_claim_was_over_and_leaves_the_line_when_it_disconnects():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.acquire(TASK, A, request="later")
    desk.withdraw("r", None)
    desk.release(TASK, A)
    desk.acquire(TASK, B)
    desk.acquire(TASK, A, request="r", wait=60)
    assert desk.world.book.asked == {"r": TASK}
    desk.withdraw("r", None)
    assert desk.world.book.asked == {}


def test_a_second_disconnection_of_a_request_takes_nothing_from_the_others():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    desk.acquire(TASK, A, request="later")
    for _ in range(2):
        assert desk.withdraw("r", None) == Accepted()
    assert desk.held() == {TASK: A}
    desk.withdraw("r", A)
    assert desk.acquire(TASK, A, request="r").code == "request-withdrawn", "now it was said"


def test_a_disconnection_takes_nothing_from_a_retry_that_was_told():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    assert desk.acquire(TASK, A, request="r").retold
    assert desk.withdraw("r", None) == Accepted()
    assert desk.held() == {TASK: A}
    assert isinstance(again(desk).withdraw("r", A), Released)


def test_a_disconnection_takes_nothing_from_a_retry_that_waited_beside_it():
    desk = Desk()
    desk.acquire(TASK, B, request="b")
    desk.acquire(TASK, A, request="r", wait=60)
    desk.acquire(TASK, A, request="r", wait=60)
    desk.release(TASK, B)
    assert desk.withdraw("r", None) == Accepted()
    assert desk.held() == {TASK: A}


def test_a_disconnection_and_a_retry_in_one_batch_are_decided_in_their_order():
    desk = Desk()
    desk.acquire(TASK, A, request="r")
    _, answer = desk.tell(Withdraw("r"), Acquire(Item(TASK), Caller(A), "r"))
    assert isinstance(answer, Granted) and not answer.again
    assert desk.decision.ledger.forgotten == {} and list(desk.decision.ledger.requests) == ["r"]


def test_the_newest_withdrawn_ids_are_remembered_and_no_more(monkeypatch):
    monkeypatch.setattr("headcount.core.state.claims.REQUESTS_MOST", 3)
    desk = Desk()
    for nth in range(5):
        desk.withdraw(f"r{nth}", A)
    assert list(desk.world.book.requests) == ["r2", "r3", "r4"]
    assert desk.world.book.told == {}


def test_a_withdrawn_id_is_as_old_as_its_withdrawal_and_not_as_its_grant(monkeypatch):
    monkeypatch.setattr("headcount.core.state.claims.REQUESTS_MOST", 3)
    desk = Desk()
    for id in ("r", "b", "c"):
        desk.acquire(f"task:{id}", A, request=id)
    desk.withdraw("r", A)
    for id in ("d", "e"):
        desk.acquire(f"task:{id}", A, request=id)
        assert desk.acquire("task:r", A, request="r").code == "request-withdrawn"
    assert list(desk.world.book.requests) == ["r", "d", "e"]
