"""One suite for every ledger: our own on SQLite, and a fleet's on PostgreSQL, by the same rules."""

import asyncio

import pytest

from headcount.core.values.claim import (
    Accepted,
    Caller,
    CallerKind,
    ClaimRefused,
    Freed,
    Granted,
    Held,
    Released,
)
from headcount.core.values.process import ProcessIdentity
from tests.rig.claims.local_and_fleet_ledgers import FleetDesk, LocalDesk
from tests.rig.core_values import HERE, process

A, B, C = process(100), process(200), process(300)
A_AGAIN = process(100, inode=7)  # another incarnation with the same pid
TASK = "task:AUTH-12"


@pytest.fixture(params=["sqlite", "postgres"])
async def desk(request, tmp_path):
    if request.param == "sqlite":
        made = LocalDesk(tmp_path)
    else:
        server = request.getfixturevalue("postgres")
        made = FleetDesk(tmp_path, server.fresh(), "one")
    await made.open()
    yield made
    await made.close()


async def test_whoever_asks_first_holds_it_and_the_next_is_told_who(desk):
    first = await desk.acquire(TASK, A)
    assert isinstance(first, Granted) and first.claim.holder == A and not first.again
    second = await desk.acquire(TASK, B)
    assert isinstance(second, Held)
    assert (second.claim.holder, second.claim.fence) == (A, first.claim.fence)


async def test_the_holder_that_asks_again_gets_the_same_fence(desk):
    first = await desk.acquire(TASK, A)
    again = await desk.acquire(TASK, A)
    assert isinstance(again, Granted) and again.again
    assert again.claim.fence == first.claim.fence


async def test_fences_grow_over_all_items_and_are_never_given_again(desk):
    fences = []
    for nth in range(6):
        item = f"task:{nth % 2}"
        fences.append((await desk.acquire(item, A)).claim.fence)
        await desk.release(item, A)
    assert fences == sorted(set(fences))


@pytest.mark.parametrize("standing, code", [("dead", "dead"), ("hidden", "unverified")])
async def test_only_the_living_are_granted_anything(desk, standing, code):
    getattr(desk, standing).add(A)
    answer = await desk.acquire(TASK, A)
    assert isinstance(answer, ClaimRefused) and answer.code == code
    assert desk.holder(TASK) is None


async def test_an_identity_that_cannot_be_told_from_a_later_one_is_refused(desk):
    answer = await desk.acquire(TASK, ProcessIdentity(HERE.boot, HERE.namespace, 100))
    assert isinstance(answer, ClaimRefused) and answer.code == "unverified"


async def test_without_an_agent_above_there_is_nobody_to_hold(desk):
    assert (await desk.acquire(TASK, None)).code == "not-an-agent"


async def test_a_death_frees_and_the_next_fence_is_higher(desk):
    first = await desk.acquire(TASK, A)
    await desk.die(A)
    second = await desk.acquire(TASK, B, wait=5)
    assert isinstance(second, Granted)
    assert second.claim.fence > first.claim.fence
    assert desk.freed(TASK) == ["died"]


async def test_a_holder_found_dead_by_asking_is_over_before_its_death_was_told(desk):
    await desk.acquire(TASK, A)
    desk.dead.add(A)
    answer = await desk.acquire(TASK, B)
    assert isinstance(answer, Granted) and answer.claim.holder == B


async def test_a_holder_in_doubt_keeps_its_claim(desk):
    await desk.acquire(TASK, A)
    desk.hidden.add(A)
    assert isinstance(await desk.acquire(TASK, B), Held)


async def test_a_reused_pid_does_not_get_the_claim_and_cannot_release_it(desk):
    await desk.acquire(TASK, A)
    assert isinstance(await desk.acquire(TASK, A_AGAIN), Held)
    assert (await desk.release(TASK, A_AGAIN)).code == "not-yours"


async def test_a_descendant_works_under_the_claim_and_cannot_release_it(desk):
    first = await desk.acquire(TASK, A)
    under = await desk.acquire(TASK, B, above=[A])
    assert isinstance(under, Granted) and under.under and under.claim.fence == first.claim.fence
    assert (await desk.release(TASK, B)).code == "not-yours"


async def test_the_same_request_is_the_same_answer_and_of_another_it_is_refused(desk):
    first = await desk.acquire(TASK, A, request="r")
    again = await desk.acquire(TASK, A, request="r")
    assert isinstance(again, Granted) and again.again and again.claim.fence == first.claim.fence
    assert again.retold and not (await desk.acquire(TASK, A)).retold
    assert (await desk.acquire(TASK, B, request="r")).code == "request-reused"
    assert (await desk.acquire("task:other", A, request="r")).code == "request-reused"
    await desk.release(TASK, A)
    assert (await desk.acquire(TASK, A, request="r")).code == "request-over"


async def test_a_release_needs_the_holder_and_the_fence(desk):
    first = await desk.acquire(TASK, A)
    fence = first.claim.fence
    assert (await desk.release(TASK, A, fence + 1)).code == "stale"
    assert (await desk.release(TASK, B)).code == "not-yours"
    done = await desk.release(TASK, A, fence)
    assert isinstance(done, Released) and done.because is Freed.RELEASED and not done.again
    again = await desk.release(TASK, A, fence)
    assert isinstance(again, Released) and again.again
    assert (await desk.release(TASK, A)).code == "not-held"
    assert (await desk.release("task:never", A)).code == "not-held"


async def test_force_is_the_operators_and_is_told(desk):
    await desk.acquire(TASK, A)
    refused = await desk.force(TASK, Caller(B, kind=CallerKind.AGENT))
    assert refused.code == "operator-only"
    done = await desk.force(TASK)
    assert isinstance(done, Released) and done.because is Freed.FORCED
    assert desk.holder(TASK) is None
    assert desk.freed(TASK) == ["forced"]


async def test_a_hand_off_changes_hands_with_a_higher_fence(desk):
    id = await desk.host(B, "conv-b")
    first = await desk.acquire(TASK, A)
    given = await desk.hand_off(TASK, A, id)
    assert isinstance(given, Granted)
    assert given.claim.holder == B and given.claim.fence > first.claim.fence
    assert desk.holder(TASK) == B
    assert desk.freed(TASK) == ["handed-off"]
    assert (await desk.hand_off(TASK, A, id)).code == "not-yours"


async def test_a_hand_off_to_nobody_alive_is_refused(desk):
    await desk.acquire(TASK, A)
    assert (await desk.hand_off(TASK, A, "none")).code == "no-such-heir"
    id = await desk.host(B, "conv-b")
    desk.dead.add(B)
    assert (await desk.hand_off(TASK, A, id)).code in ("dead", "no-such-heir")
    assert desk.holder(TASK) == A


async def test_who_waits_gets_it_in_order_of_arrival(desk):
    await desk.acquire(TASK, A)
    order = []

    async def wait(who):
        answer = await desk.acquire(TASK, who, wait=10)
        order.append((who.pid, answer.claim.fence))
        await desk.release(TASK, who)

    first = asyncio.create_task(wait(B))
    await waiting(desk, 1)
    second = asyncio.create_task(wait(C))
    await waiting(desk, 2)
    assert isinstance(await desk.acquire(TASK, process(400)), Held)
    await desk.release(TASK, A)
    await asyncio.gather(first, second)
    assert [pid for pid, _ in order] == [B.pid, C.pid]
    assert order[0][1] < order[1][1]


async def test_nobody_overtakes_who_waits(desk):
    await desk.acquire(TASK, A)
    task = asyncio.create_task(desk.acquire(TASK, B, wait=10))
    await waiting(desk, 1)
    desk.hidden.add(B)  # it cannot be proved now, so it keeps its place
    await desk.release(TASK, A)
    desk.hidden.clear()
    answer = await task
    assert isinstance(answer, Granted) and answer.claim.holder == B


async def test_a_wait_ends_at_its_deadline_with_who_holds_it(desk):
    await desk.acquire(TASK, A)
    answer = await desk.acquire(TASK, B, wait=0.2)
    assert isinstance(answer, Held) and answer.claim.holder == A
    await waiting(desk, 0)


async def test_whoever_stops_listening_gives_its_place_up(desk):
    await desk.acquire(TASK, A)
    task = asyncio.create_task(desk.acquire(TASK, B, wait=30))
    await waiting(desk, 1)
    task.cancel()
    await waiting(desk, 0)
    await desk.release(TASK, A)
    assert isinstance(await desk.acquire(TASK, C), Granted)


async def test_a_hundred_at_once_make_one_holder(desk):
    crowd = [process(1000 + nth) for nth in range(40)]
    answers = await asyncio.gather(*(desk.acquire(TASK, each) for each in crowd))
    granted = [each for each in answers if isinstance(each, Granted)]
    assert len(granted) == 1
    assert all(each.claim.fence == granted[0].claim.fence for each in answers)


async def waiting(desk, count):
    """Until that many wait for the task, by the ledger's own word."""
    async with asyncio.timeout(10):
        while await lined_up(desk) != count:
            await asyncio.sleep(0.005)


async def lined_up(desk):
    if isinstance(desk, FleetDesk):
        return (await desk.member.ledger.held())[1].get(TASK, 0)
    return len(desk.world.book.waiting.get(TASK, ()))


# --- giving up -------------------------------------------------------------------------------------


async def test_a_withdrawn_request_gives_back_its_claim_and_is_never_granted(desk):
    await desk.acquire(TASK, A, request="r")
    released = await desk.withdraw("r", TASK, A)
    assert isinstance(released, Released) and released.because is Freed.WITHDRAWN
    assert desk.holder(TASK) is None and desk.freed(TASK) == ["withdrawn"]
    assert (await desk.acquire(TASK, A, request="r")).code == "request-withdrawn"
    assert isinstance(await desk.acquire(TASK, B), Granted)


async def test_a_withdrawal_before_its_request_wins(desk):
    assert await desk.withdraw("r", TASK, A) == Accepted()
    assert (await desk.acquire(TASK, A, request="r", wait=5)).code == "request-withdrawn"
    assert desk.holder(TASK) is None


async def test_a_request_that_waits_and_is_withdrawn_is_answered_and_the_next_gets_it(desk):
    await desk.acquire(TASK, A)
    waits = asyncio.create_task(desk.acquire(TASK, B, request="r", wait=60))
    after = asyncio.create_task(desk.acquire(TASK, C, wait=60))
    await until_waiting(desk, 2)
    await desk.withdraw("r", TASK, B)
    assert (await asyncio.wait_for(waits, 10)).code == "request-withdrawn"
    await desk.release(TASK, A)
    assert (await asyncio.wait_for(after, 10)).claim.holder == C


async def test_withdrawing_a_request_that_was_told_again_releases_nothing(desk):
    await desk.acquire(TASK, A, request="outer")
    await desk.acquire(TASK, A, request="inner")
    assert await desk.withdraw("inner", TASK, A) == Accepted()
    assert desk.holder(TASK) == A


async def test_whoever_was_told_again_keeps_what_another_request_gave_up_and_gives_it_back(desk):
    await desk.acquire(TASK, A, request="given up")
    await desk.acquire(TASK, A, request="later")
    assert await desk.withdraw("given up", TASK, None) == Accepted()
    assert desk.holder(TASK) == A and isinstance(await desk.acquire(TASK, B), Held)
    assert isinstance(await desk.withdraw("later", TASK, A), Released)
    assert desk.holder(TASK) is None and isinstance(await desk.acquire(TASK, B), Granted)


async def test_another_process_cannot_withdraw_a_request(desk):
    await desk.acquire(TASK, A, request="r")
    assert (await desk.withdraw("r", TASK, B)).code == "not-yours"
    assert desk.holder(TASK) == A


async def test_whoever_disconnected_may_ask_again_with_the_same_id(desk):
    first = await desk.acquire(TASK, A, request="r")
    assert isinstance(await desk.withdraw("r", TASK, None), Released)
    second = await desk.acquire(TASK, A, request="r")
    assert isinstance(second, Granted) and not second.again and second.claim.fence > first.claim.fence


async def test_whoever_disconnected_may_ask_again_also_while_another_request_keeps_the_claim(desk):
    first = await desk.acquire(TASK, A, request="r")
    await desk.acquire(TASK, A, request="later")
    assert await desk.withdraw("r", TASK, None) == Accepted()
    second = await desk.acquire(TASK, A, request="r")
    assert isinstance(second, Granted) and second.claim.fence == first.claim.fence
    assert await desk.withdraw("later", TASK, A) == Accepted() and desk.holder(TASK) == A
    assert isinstance(await desk.withdraw("r", TASK, None), Released)
    assert desk.holder(TASK) is None and isinstance(await desk.acquire(TASK, B), Granted)


async def test_a_disconnection_takes_nothing_from_a_retry_that_was_told(desk):
    await desk.acquire(TASK, A, request="r")
    assert (await desk.acquire(TASK, A, request="r")).retold
    assert await desk.withdraw("r", TASK, None) == Accepted()
    assert desk.holder(TASK) == A


async def test_a_wait_that_is_cancelled_as_it_is_granted_leaves_nothing(desk):
    for nth in range(20):
        await desk.acquire(TASK, A)
        waits = asyncio.create_task(desk.acquire(TASK, B, wait=60))
        await until_waiting(desk, 1)
        released = asyncio.create_task(desk.release(TASK, A))
        for _ in range(nth):
            await asyncio.sleep(0)
        waits.cancel()
        await asyncio.wait({waits, released})
        async with asyncio.timeout(10):
            while not isinstance(await desk.acquire(TASK, A), Granted):
                await asyncio.sleep(0.01)
        await desk.release(TASK, A)


async def until_waiting(desk, count):
    async with asyncio.timeout(10):
        while await desk.waiting(TASK) != count:
            await asyncio.sleep(0.01)
