"""The mirror of shared claims and the ledger: kept equal by deaths, hints and renewals, each on its own."""

import asyncio
from types import SimpleNamespace

import pytest

from headcount.core.claims.shared_with_fleet import decide_shared
from headcount.core.values.claim import Acquire, Caller, Granted, Held
from headcount.core.values.item import Item
from headcount.core.values.verdict import alive
from headcount.daemon.fleet.intervals import Intervals
from headcount.daemon.routes.shared_claims import elsewhere
from headcount.store.fleet_interface import SharedUnavailable, Superseded
from tests.rig.claims.local_and_fleet_ledgers import FleetDesk
from tests.rig.core_values import process

A, B = process(100), process(200)
TASK = Item("task:x")
SLOW = Intervals(10.0)  # no renewal comes within this test


@pytest.fixture
async def desks(tmp_path, postgres):
    database = postgres.create()
    made = []

    async def make(name, pace=SLOW):
        made.append(FleetDesk(tmp_path / f"{name}{len(made)}", postgres.uri(database=database), name, pace))
        await made[-1].open()
        return made[-1]

    yield make
    for each in made:
        await each.close()


async def until(ask, within=20.0):
    async with asyncio.timeout(within):
        while not await ask():
            await asyncio.sleep(0.01)


async def is_free(desk):
    row = (await desk.member.ledger.read([TASK])).get(TASK)
    return row is not None and row.host is None


async def untold(desk, who):
    """A grant that is in the ledger and was told to nobody, as when the answer was lost on its way."""
    asks = Acquire(TASK, Caller(who), "lost")
    decide = lambda known, now: decide_shared(desk.world, known, asks, now, {who: alive("it lives")})  # noqa: E731
    answer = await desk.member.ledger.decide(asks, decide, 0)
    assert isinstance(answer, Granted)
    return answer.claim.fence


async def test_a_death_is_freed_in_the_ledger_without_waiting_for_a_renewal(desks):
    desk = await desks("one")
    await desk.acquire(TASK, A)
    await desk.die(A)
    await until(lambda: is_free(desk))


async def test_a_waiter_on_another_host_is_rung_and_does_not_wait_for_its_next_look(desks):
    one, two = await desks("one"), await desks("two")
    await one.acquire(TASK, A)
    waits = asyncio.create_task(two.acquire(TASK, B, wait=60))
    await until(lambda: lined_up(one))
    await one.die(A)
    async with asyncio.timeout(15):  # by itself it would look again after 20
        assert isinstance(await waits, Granted)


async def lined_up(desk):
    return (await desk.member.ledger.held())[1].get(TASK)


async def test_a_grant_that_nobody_was_told_of_is_given_back_at_the_next_renewal(desks):
    desk = await desks("one")
    fence = await untold(desk, A)
    await desk.member._renew(desk.member.lease.sending())
    assert await is_free(desk)
    again = await desk.acquire(TASK, A, request="lost")  # its request is forgotten with it
    assert again.claim.fence > fence


async def test_the_same_question_asked_again_gets_the_grant_that_was_not_told(desks):
    desk = await desks("one")
    fence = await untold(desk, A)
    again = await desk.acquire(TASK, A, request="lost")
    assert again.again and again.claim.fence == fence
    await desk.member._renew(desk.member.lease.sending())
    assert desk.holder(TASK) == A and not await is_free(desk)


async def test_an_answer_that_comes_after_the_lease_is_none(desks):
    """The daemon was stopped between the commit and its answer: nobody is told, and the next renewal settles it."""
    desk = await desks("one")
    decide = desk.member.ledger.decide

    async def slow(*given):
        answer = await decide(*given)
        desk.member.lease.given_up()
        return answer

    desk.member.ledger.decide = slow
    with pytest.raises(SharedUnavailable):
        await desk.acquire(TASK, A)
    assert desk.holder(TASK) is None
    desk.member.ledger.decide = decide
    await desk.member._renew(desk.member.lease.sending())
    assert await is_free(desk)


async def test_a_line_is_cleared_of_questions_that_are_no_longer_open(desks):
    one = await desks("one")
    await one.acquire(TASK, A)
    waits = asyncio.create_task(one.acquire(TASK, B, wait=60))
    await until(lambda: lined_up(one))
    decide = one.member.ledger.decide
    one.member.ledger.decide = _unavailable
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    assert await lined_up(one)
    await one.member._renew(one.member.lease.sending())
    assert not await lined_up(one)
    one.member.ledger.decide = decide


async def _unavailable(*_):
    raise SharedUnavailable("away")


async def test_who_asks_again_while_the_untold_grant_is_given_back_keeps_what_it_is_told(desks):
    """The asker is first at the item's lock, although the giving back was begun before."""
    desk = await desks("one")
    free, told = desk.member.ledger.free, []

    async def late(*given, **more):
        told.append(await desk.acquire(TASK, A, request="lost"))
        return await free(*given, **more)

    desk.member.ledger.free = late  # before there is anything: the member may renew by itself
    fence = await untold(desk, A)
    await desk.member._renew(desk.member.lease.sending())
    async with asyncio.timeout(20):
        while not told:
            await asyncio.sleep(0.01)
    assert told[0].claim.fence == fence
    assert desk.holder(TASK) == A and not await is_free(desk)


async def test_who_lines_up_while_a_renewal_is_on_its_way_keeps_its_place(desks):
    desk = await desks("one")
    await desk.acquire(TASK, A)
    renew, waits = desk.member.ledger.renew, []

    async def late(*given):
        waits.append(asyncio.create_task(desk.acquire(TASK, B, wait=60)))
        await until(lambda: lined_up(desk))
        return await renew(*given)

    desk.member.ledger.renew = late
    await desk.member._renew(desk.member.lease.sending())
    assert await lined_up(desk) == 1
    waits[0].cancel()
    await asyncio.gather(*waits, return_exceptions=True)


async def test_an_answer_that_our_own_disk_held_up_beyond_the_lease_is_none(desks):
    desk = await desks("one")
    command = desk.loop.command

    async def slow(given):
        answer = await command(given)
        desk.member.lease.given_up()
        return answer

    desk.loop.command = slow
    with pytest.raises(SharedUnavailable):
        await desk.acquire(TASK, A)


async def test_a_guard_believes_the_ledger_and_not_a_mirror_that_has_not_heard_yet(desks, postgres):
    one, two = await desks("one"), await desks("two")
    await one.acquire(TASK, A)
    link = two.member.link  # as if our lease had run out: the other has it, and no renewal has told us

    async def taken(connection):
        await connection.execute("UPDATE headcount.claims SET host = 'host-two', fence = fence + 1")

    await link.run(taken)
    parts = SimpleNamespace(fleet=SimpleNamespace(is_joined=True, member=one.member), loop=one.loop)
    assert one.holder(TASK) == A
    (claim,) = await elsewhere(SimpleNamespace(parts=parts), [B], [TASK])
    assert claim.item == TASK


async def test_a_withdrawal_waits_for_a_second_try_also_after_the_first_has_ended(desks):
    desk = await desks("one")
    await desk.acquire(TASK, B)
    ledger, gate, begun = desk.member.claims.ledger, asyncio.Event(), []
    decide = ledger.decide

    async def held_up(command, *more):
        if isinstance(command, Acquire):
            begun.append(command)
            if len(begun) == 2:
                await gate.wait()
        return await decide(command, *more)

    ledger.decide = held_up
    first, second = (asyncio.create_task(desk.acquire(TASK, A, request="r")) for _ in range(2))
    assert isinstance(await first, Held)
    await desk.release(TASK, B)
    withdrawal = asyncio.create_task(desk.withdraw("r", TASK, None))
    done, _ = await asyncio.wait({withdrawal}, timeout=0.2)
    gate.set()
    assert isinstance(await second, Granted) and not done
    await withdrawal
    assert desk.holder(TASK) is None


async def test_a_daemon_whose_place_was_taken_frees_nothing_of_the_other_when_it_leaves(desks):
    first = await desks("one")
    copy = await desks("one")  # the same host's id
    fence = (await copy.acquire(TASK, A)).claim.fence
    with pytest.raises(Superseded):
        await first.member.ledger.leave()
    assert (await copy.member.ledger.read([TASK]))[TASK].claim.fence == fence
    assert [host.id for host in await copy.member.people.hosts()] == ["host-one"]


async def test_no_life_of_a_host_has_the_number_of_an_earlier_one_also_after_it_left(desks):
    first = await desks("one")
    epoch = first.member.ledger._me.epoch
    await first.member.rest("leaving")
    await first.member.ledger.leave()
    second = await desks("one")
    assert second.member.ledger._me.epoch > epoch
