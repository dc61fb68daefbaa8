"""The ledger, when it is taken: who waits, in which order, and who goes on."""

from headcount.core.values.claim import (
    Accepted,
    Acquire,
    Caller,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Waiting,
    Waits,
)
from headcount.core.values.events import EventType
from headcount.core.values.item import Item
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import process

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
    assert (answer.claim, answer.ahead) == (None, 1), "A is not in the way"
    assert answer.first == Waits(Item("path:/a/**"), B)
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


def test_whoever_holds_what_another_waits_for_goes_past_it():
    """To stand behind it would be to wait for oneself."""
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/**", B, wait=60, request="b")
    assert isinstance(desk.acquire("path:/a/c", A), Granted)
    desk.acquire("path:/z/**", C)
    desk.acquire("path:/z/f", D, wait=60)
    assert isinstance(desk.acquire("path:/z/f", C), Granted), "it lies in a tree of its own"
    assert isinstance(desk.acquire("path:/a/d", D), Held)
    desk.release("path:/a/b", A)
    desk.release("path:/a/c", A)
    assert desk.answers["b"].claim.holder == B


def test_one_that_waits_goes_past_those_who_wait_for_what_it_holds():
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/c", B)
    desk.acquire("path:/a/**", C, wait=60, request="tree")
    desk.acquire("path:/a/c", A, wait=60, request="file")
    desk.release("path:/a/c", B)
    assert desk.answers["file"].claim.holder == A
    assert "tree" not in desk.answers


def test_a_death_in_the_line_lets_those_behind_go_on():
    """It frees nothing, and it stood in the way."""
    desk = Desk()
    desk.acquire("path:/a/b", A)
    desk.acquire("path:/a/**", B, wait=60, request="b")
    desk.acquire("path:/a/c", C, wait=60, request="c")
    assert desk.decision.effects, "who waits is watched: of one that is no session's nobody would hear"
    desk.die(B)
    assert desk.answers["b"].code == "dead"
    assert desk.answers["c"].claim.holder == C


def test_who_waits_is_answered_when_an_agent_above_it_gets_the_item():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="outer")
    asks = Acquire(Item(TASK), Caller(C, above=(B,)), "inner", wait_until=desk.now + 60)
    assert desk.tell(asks) == [Waiting("inner")]
    desk.release(TASK, A)
    assert desk.answers["inner"] == Granted(desk.answers["outer"].claim, again=True, under=True)


def test_a_request_that_waits_for_one_item_gets_no_other():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    assert desk.acquire("task:other", B, request="b").code == "request-reused"


def test_the_dead_hand_nothing_on_and_release_nothing():
    """Of their death nobody has heard yet, and an orphan of theirs speaks for them."""
    desk = Desk()
    heir = desk.host(B)
    for item in (TASK, "task:other"):
        desk.acquire(item, A)
    desk.acquire(TASK, C, wait=60, request="c")
    desk.dead.add(A)
    assert isinstance(desk.hand_off(TASK, A, heir), ClaimRefused)
    assert desk.answers["c"].claim.holder == C
    desk.release("task:other", A)
    assert desk.claim("task:other").freed is Freed.DIED


def test_who_could_not_be_proved_is_told_that_at_its_deadline():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.hidden.add(B)
    desk.release(TASK, A)
    desk.pass_time(61.0)
    assert desk.answers["b"].code == "unverified"


def test_one_below_works_under_what_the_agent_above_takes_past_it():
    desk = Desk()
    desk.acquire("path:/a/f", A)
    asks = Acquire(Item("path:/a/**"), Caller(B, above=(A,)), "inner", wait_until=desk.now + 60)
    assert desk.tell(asks) == [Waiting("inner")]
    tree = desk.acquire("path:/a/**", A).claim
    assert desk.answers["inner"] == Granted(tree, again=True, under=True)


def test_a_retry_that_is_granted_at_once_leaves_nobody_in_line():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    desk.hidden.add(B)
    desk.release(TASK, A)
    desk.hidden.discard(B)
    granted = desk.acquire(TASK, B, wait=60, request="b")
    assert desk.answers["b"] == granted
    desk.release(TASK, B)
    assert desk.holder(TASK) is None
