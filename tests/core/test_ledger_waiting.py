"""The ledger, when it is taken: who waits, in which order, and who goes on."""

from headcount.core.claim import Accepted, Granted, Held, Waiting
from headcount.core.events import EventType
from tests.rig.desk import Desk
from tests.rig.values import process

A, B, C, D = process(100), process(200), process(300), process(400)
TASK = "task:AUTH-12"


def test_who_waits_gets_it_in_order_of_arrival():
    desk = Desk()
    fence = desk.acquire(TASK, A).claim.fence
    assert desk.acquire(TASK, B, wait=60, request="b") == Waiting("b")
    assert desk.acquire(TASK, C, wait=60, request="c") == Waiting("c")
    desk.release(TASK, A)
    assert desk.answers["b"].claim.fence > fence
    assert "c" not in desk.answers
    desk.die(B)
    assert desk.answers["c"].claim.fence > desk.answers["b"].claim.fence
    assert [event.type for event in desk.decision.events] == [
        EventType.CLAIM_RELEASED, EventType.CLAIM_GRANTED,
    ]  # fmt: skip


def test_a_waiter_that_died_is_skipped():
    """C9."""
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.acquire(TASK, C, wait=60, request="c")
    desk.dead.add(B)
    desk.die(A)
    assert desk.answers["b"].code == "dead"
    assert desk.holder(TASK) == C


def test_a_waiter_that_cannot_be_asked_is_passed_over_and_asked_again():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.hidden.add(B)
    desk.release(TASK, A)
    assert desk.held() == {}
    assert desk.answers == {}
    desk.hidden.clear()
    desk.pass_time(1.5)
    assert desk.holder(TASK) == B


def test_nobody_waits_behind_one_that_cannot_be_asked():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60)
    desk.hidden.add(B)
    desk.release(TASK, A)
    assert isinstance(desk.acquire(TASK, C), Granted)


def test_the_deadline_of_a_waiter_answers_who_holds_it():
    desk = Desk()
    claim = desk.acquire(TASK, A).claim
    desk.acquire(TASK, B, wait=60, request="b")
    desk.pass_time(59)
    assert desk.answers == {}
    desk.pass_time(2)
    assert desk.answers["b"] == Held(claim)
    desk.release(TASK, A)
    assert desk.held() == {}


def test_a_withdrawn_waiter_gets_nothing():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.withdraw("b")
    desk.release(TASK, A)
    assert desk.held() == {}
    assert desk.withdraw("b") == Accepted()


def test_a_retry_of_one_that_waits_keeps_its_place():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.acquire(TASK, C, wait=60, request="c")
    assert desk.acquire(TASK, B, wait=60, request="b") == Waiting("b")
    assert desk.acquire(TASK, C, wait=60, request="b").code == "request-reused"
    desk.release(TASK, A)
    assert desk.holder(TASK) == B


def test_a_newcomer_never_overtakes_one_that_waits_for_a_wider_path():
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/**", B, wait=60, request="b")
    answer = desk.acquire("path:/a/c", C)
    assert isinstance(answer, Held)
    assert (answer.claim.item, answer.ahead) == ("path:/a/b", 1)
    assert desk.acquire("path:/a/c", C, wait=60, request="c") == Waiting("c")
    desk.release("path:/a/b", A)
    assert desk.held() == {"path:/a/**": B}
    desk.release("path:/a/**", B)
    assert desk.held() == {"path:/a/c": C}


def test_who_came_later_does_not_slip_past_one_that_is_still_blocked():
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/x", D)
    desk.acquire("path:/a/**", B, wait=60)
    desk.acquire("path:/a/b", C, wait=60)
    desk.release("path:/a/b", A)
    assert desk.held() == {"path:/a/x": D}
    desk.release("path:/a/x", D)
    assert desk.held() == {"path:/a/**": B}


def test_who_stands_behind_a_waiter_that_gives_up_goes_on():
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/**", B, wait=5, request="b")
    desk.acquire("path:/a/c", C, wait=60, request="c")
    desk.pass_time(6)
    assert isinstance(desk.answers["b"], Held)
    assert desk.holder("path:/a/c") == C


def test_two_questions_of_one_process_do_not_block_each_other():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b1")
    desk.acquire(TASK, B, wait=60, request="b2")
    desk.release(TASK, A)
    assert desk.answers["b1"].claim == desk.answers["b2"].claim
    assert desk.answers["b2"].again
