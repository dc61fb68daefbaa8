"""The ledger: one holder, free at death, never inherited."""

import pytest

from headcount.core.state.claims import ClaimsState
from headcount.core.values.claim import (
    Accepted,
    AcceptLoss,
    Acquire,
    Caller,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Release,
    Released,
)
from headcount.core.values.events import EventType, Watch
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Opening, Turn
from headcount.core.values.verdict import alive, unknown
from tests.rig.claims.core_ledger import FIRST, OPERATOR, Desk
from tests.rig.core_values import HERE, T0, bound, death, judged, leaving, process, report, start

A, B, C, D = process(100), process(200), process(300), process(400)
A_AGAIN = process(100, inode=7)  # another incarnation with the same pid
TASK = "task:AUTH-12"


def test_whoever_asks_first_holds_it_and_the_next_is_told_who():
    desk = Desk()
    answer = desk.acquire(TASK, A)
    assert isinstance(answer, Granted)
    assert (answer.claim.fence, answer.claim.holder, answer.again) == (FIRST + 1, A, False)
    assert desk.acquire(TASK, B) == Held(answer.claim)
    assert desk.decision.events == []


def test_the_holder_that_asks_again_gets_the_same_fence():
    desk = Desk()
    first = desk.acquire(TASK, A)
    again = desk.acquire(TASK, A)
    assert again == Granted(first.claim, again=True)
    assert len(desk.events) == 1


def test_a_fence_is_never_given_again():
    desk = Desk()
    fences = []
    for nth in range(5):
        fences.append(desk.acquire(TASK if nth % 2 else "task:other", A).claim.fence)
        desk.release(TASK if nth % 2 else "task:other", A)
    assert fences == sorted(set(fences))


def test_a_new_ledger_after_a_lost_one_starts_above_it():
    desk = Desk(ClaimsState(fence=1_790_000_000_000))
    assert desk.acquire(TASK, A).claim.fence == 1_790_000_000_001


def test_fences_go_on_from_the_highest_row_whoever_had_it():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire("task:b", A)
    desk.release("task:b", A)
    again = Desk(ClaimsState(desk.world.book.claims.values()))
    assert again.acquire("task:c", B).claim.fence == FIRST + 3


def test_a_grant_is_watched_so_that_its_death_is_told():
    desk = Desk()
    desk.acquire(TASK, A)
    assert desk.decision.effects == [Watch(A)]


# --- who may have it -------------------------------------------------------------------------------


@pytest.mark.parametrize("standing", ["dead", "hidden"])
def test_only_the_living_are_granted_anything(standing):
    desk = Desk()
    getattr(desk, standing).add(A)
    answer = desk.acquire(TASK, A)
    assert isinstance(answer, ClaimRefused)
    assert answer.code == {"dead": "dead", "hidden": "unverified"}[standing]
    assert desk.held() == {}


def test_a_caller_that_nobody_proved_is_refused():
    desk = Desk()
    (answer,) = desk.tell(Acquire(Item(TASK), Caller(A), "r"), verdicts={})
    assert isinstance(answer, ClaimRefused)
    assert answer.code == "unverified"


def test_a_death_told_in_the_same_batch_outweighs_a_proof_from_before_it():
    desk = Desk()
    _, answer = desk.tell(death(A), Acquire(Item(TASK), Caller(A), "r"), verdicts={A: alive("it lived")})
    assert isinstance(answer, ClaimRefused)
    assert answer.code == "dead"


def test_a_process_whose_session_ended_is_granted_nothing_whatever_is_said_of_it():
    desk = Desk()
    desk.host(A)
    desk.tell(death(A))
    (answer,) = desk.tell(Acquire(Item(TASK), Caller(A), "r"), verdicts={A: alive("a stale look")})
    assert answer.code == "dead"


def test_an_identity_that_cannot_be_told_from_a_later_one_is_refused():
    vague = ProcessIdentity(HERE.boot, HERE.namespace, 100)
    answer = Desk().acquire(TASK, vague)
    assert answer.code == "unverified"


def test_without_an_agent_above_there_is_nobody_to_hold():
    assert Desk().acquire(TASK, None).code == "not-an-agent"


# --- nobody inherits -------------------------------------------------------------------------------


def test_a_death_frees_in_the_decision_that_ends_the_session():
    desk = Desk()
    id = desk.host(A)
    fence = desk.acquire(TASK, A).claim.fence
    desk.die(A)
    assert [event.type for event in desk.decision.events] == [
        EventType.SESSION_ENDED, EventType.CLAIM_RELEASED,
    ]  # fmt: skip
    freed = desk.decision.events[1]
    assert (freed.claim.fence, freed.claim.holder, freed.session) == (fence, A, id)
    assert freed.facts == {"because": "died"}
    assert desk.holder(TASK) is None
    assert desk.claim(TASK).fence == fence


def test_a_holder_without_a_session_frees_by_its_death_too():
    desk = Desk()
    desk.acquire(TASK, A)
    desk.die(A)
    assert desk.held() == {}


def test_a_reused_pid_does_not_get_the_claim_and_its_death_frees_nothing():
    """C10."""
    desk = Desk()
    desk.acquire(TASK, A)
    assert isinstance(desk.acquire(TASK, A_AGAIN), Held)
    desk.die(A_AGAIN)
    assert desk.holder(TASK) == A
    assert desk.release(TASK, A_AGAIN).code == "not-yours"


def test_a_resumed_conversation_does_not_get_what_its_predecessor_held():
    """C1."""
    desk = Desk()
    desk.host(A)
    old = desk.acquire(TASK, A, request="r-old").claim
    desk.die(A)
    desk.host(B)  # the same conversation in another process
    assert desk.held() == {}
    refused = desk.acquire(TASK, B, request="r-old")
    assert refused.code == "request-reused"
    assert desk.release(TASK, B, old.fence) == Released(desk.claim(TASK), Freed.DIED, again=True)
    new = desk.acquire(TASK, B).claim
    assert new.fence > old.fence


def test_a_living_holder_is_not_robbed_by_a_second_process_of_its_conversation():
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A)
    desk.host(B)
    answer = desk.acquire(TASK, B)
    assert isinstance(answer, Held)
    assert answer.claim.holder == A


def test_clear_and_compaction_keep_the_claim():
    """C11."""
    desk = Desk()
    first = desk.host(A)
    fence = desk.acquire(TASK, A).claim.fence
    desk.tell(leaving(T0 + 1, reason="clear", anchor=bound(A)))
    desk.tell(start(T0 + 2, "conv-b", Opening.CLEAR, anchor=bound(A)))
    assert not desk.world.sessions[first].is_open
    assert desk.holder(TASK) == A
    assert desk.acquire(TASK, A) == Granted(desk.claim(TASK), again=True)
    desk.tell(report("PreCompact", T0 + 3, "conv-b", Turn.COMPACTING, anchor=bound(A)))
    desk.tell(report("PostCompact", T0 + 4, "conv-b", Turn.COMPACTED, anchor=bound(A)))
    assert (desk.holder(TASK), desk.claim(TASK).fence) == (A, fence)


def test_silence_doubt_and_time_free_nothing():
    """C12."""
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A)
    desk.tell(judged(A, unknown("EMFILE")))
    desk.pass_time(10_000_000)
    desk.hidden.add(A)
    assert isinstance(desk.acquire(TASK, B), Held)
    assert desk.holder(TASK) == A


def test_a_holder_found_dead_when_somebody_asks_is_over_at_once():
    desk = Desk()
    id = desk.host(A)
    desk.acquire(TASK, A)
    desk.dead.add(A)  # the kernel's own word is still on its way
    answer = desk.acquire(TASK, B)
    assert isinstance(answer, Granted)
    assert not desk.world.sessions[id].is_open
    desk.tell(death(A))  # and when it comes it changes nothing
    assert desk.decision.events == []


# --- items beside each other -----------------------------------------------------------------------


def test_claims_on_different_items_never_touch_each_other():
    """C5."""
    desk = Desk()
    desk.acquire("task:parent", A)
    desk.acquire("task:parent/child", A)
    desk.acquire("task:other", B)
    desk.release("task:parent/child", A)
    assert desk.held() == {"task:parent": A, "task:other": B}


def test_overlapping_paths_have_one_holder():
    desk = Desk()
    desk.acquire("path:/a/b", A)
    answer = desk.acquire("path:/a/**", B)
    assert isinstance(answer, Held)
    assert answer.claim.item == "path:/a/b"
    assert isinstance(desk.acquire("path:/a/c", B), Granted)
    assert isinstance(desk.acquire("path:/a/**", A), Held)  # now B is in the way
    desk.release("path:/a/c", B)
    assert isinstance(desk.acquire("path:/a/**", A), Granted)  # one's own do not count


# --- after a loss ----------------------------------------------------------------------------------


def test_after_a_lost_store_nothing_is_granted_until_the_operator_accepts_it():
    desk = Desk(ClaimsState(fence=FIRST, loss="/state/headcount.db.corrupt"))
    assert desk.acquire(TASK, A).code == "loss-not-accepted"
    assert desk.tell(AcceptLoss(Caller(A)))[0].code == "operator-only"
    assert desk.tell(AcceptLoss(OPERATOR)) == [Accepted()]
    assert desk.events[-1].type is EventType.LOSS_ACCEPTED
    assert isinstance(desk.acquire(TASK, A), Granted)


def test_until_empty_is_kept_with_the_claim():
    desk = Desk()
    assert desk.acquire(TASK, A, until_empty=True).claim.until_empty


# --- what is not committed -------------------------------------------------------------------------


def test_a_batch_that_is_not_committed_leaves_no_trace():
    from headcount.core.decide import decide

    desk = Desk()
    desk.acquire(TASK, A)
    desk.acquire(TASK, B, wait=60, request="b")
    draft, _ = decide(desk.world, [Release(Item(TASK), Caller(A))], T0, {B: alive("it lives")})
    assert draft.decision.ledger.answers["b"].claim.holder == B
    assert desk.holder(TASK) == A  # the draft was dropped
    desk.release(TASK, A)
    assert desk.holder(TASK) == B
