"""What every store promises (port.py), whatever it is made of."""

import asyncio

import pytest
from msgspec.structs import replace

from headcount.core.values.events import EventType, apply
from headcount.store.interface import StoreFault
from tests.store.conftest import Opener
from tests.store.sample_values import BEGAN, ended, event, own_event, session


def seqs(events: list) -> list[int]:
    return [one.seq for one in events]


async def test_a_new_store_remembers_nothing(open_store: Opener) -> None:
    store = open_store()
    loaded = store.loaded
    assert (loaded.sessions, loaded.seq, loaded.machine, loaded.last_seen, loaded.set_aside) == (
        [],
        0,
        None,
        None,
        None,
    )
    assert await store.oldest() == 0
    assert await store.history() == []


async def test_what_was_committed_is_loaded_by_the_next_start(open_store: Opener) -> None:
    store = open_store()
    one, two = session("s1"), ended("s2", BEGAN + 5)
    await store.commit([event(1), event(2, "s2")], [one, two])
    store.close()
    loaded = open_store().loaded
    assert loaded.sessions == [one, two]
    assert (loaded.seq, loaded.machine, loaded.last_seen) == (2, "machine-1", BEGAN + 2)


async def test_a_row_is_replaced_by_its_newer_self(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [session()])
    newer = session(name="renamed", cwd=None, conversation=None)
    await store.commit([event(2)], [newer])
    store.close()
    assert open_store().loaded.sessions == [newer]


async def test_a_dropped_session_is_gone_and_dropping_it_again_is_harmless(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [session("s1"), session("s2")])
    await store.commit([], [], [session("s1").id])
    await store.commit([], [], [session("s1").id])
    store.close()
    assert [one.id for one in open_store().loaded.sessions] == ["s2"]


async def test_events_come_back_equal_with_the_types_of_the_core(open_store: Opener) -> None:
    store = open_store()
    full = session()
    start = replace(
        event(1),
        type=EventType.SESSION_STARTED,
        delta={name: getattr(full, name) for name in full.__slots__ if name != "id"},
    )
    own = own_event(2, version="0.1", missed=[1, 2.5, None, {"a": True}])
    await store.commit([start, own], [full])
    assert await store.history() == [start, own]
    assert apply(None, (await store.history())[0]) == full


async def test_history_is_cut_by_number_session_type_and_time(open_store: Opener) -> None:
    store = open_store()
    events = [event(n, f"s{n % 3}") for n in range(1, 31)] + [own_event(31)]
    await store.commit(events, [])
    assert seqs(await store.history(after=5, until=8)) == [6, 7, 8]
    assert seqs(await store.history(limit=3)) == [1, 2, 3]
    assert seqs(await store.history(limit=3, newest=True)) == [29, 30, 31]
    assert seqs(await store.history(session="s1", after=20)) == [22, 25, 28]
    assert seqs(await store.history(session="s1", newest=True, limit=2)) == [25, 28]
    assert seqs(await store.history(types=["headcount.started"])) == [31]
    assert seqs(await store.history(since=BEGAN + 29)) == [29, 30, 31]
    assert seqs(await store.history(since=BEGAN + 99)) == []
    assert seqs(await store.history(since=BEGAN + 10, session="s0", until=20)) == [12, 15, 18]


async def test_times_that_run_backwards_hide_no_event(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1, at=BEGAN + 100), event(2, at=BEGAN), event(3, at=BEGAN + 50)], [])
    assert seqs(await store.history(since=BEGAN + 50)) == [1, 3]


async def test_a_number_is_given_once_and_the_failed_commit_stores_nothing(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(1)], [session("s1")])
    with pytest.raises(StoreFault) as told:
        await store.commit([event(2), event(1)], [session("s2")])
    assert told.value.kind == "other"
    await store.commit([event(2)], [])
    store.close()
    again = open_store()
    assert [one.id for one in again.loaded.sessions] == ["s1"]
    assert seqs(await again.history()) == [1, 2]


@pytest.mark.parametrize(
    "bad",
    ["\ud800", float("nan"), object(), {"deep": float("inf")}],
    ids=["lone surrogate", "NaN", "an object", "infinity"],
)
async def test_a_value_that_cannot_be_stored_fails_its_own_caller_only(
    open_store: Opener, bad: object
) -> None:
    store = open_store()
    outcomes = await asyncio.gather(
        store.commit([event(1)], [session("s1")]),
        store.commit([event(9, last_event_at=bad)], []),
        store.commit([event(9)], [session("s3", started_at=BEGAN, last_event_at=bad)]),
        store.commit([event(2)], [session("s4")]),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), StoreFault, StoreFault, type(None)]
    assert seqs(await store.history()) == [1, 2]
    store.close()
    assert [one.id for one in open_store().loaded.sessions] == ["s1", "s4"]


async def test_a_bad_text_in_a_column_fails_its_own_caller_only(open_store: Opener) -> None:
    store = open_store()
    outcomes = await asyncio.gather(
        store.commit([event(1, "\udcff")], []), store.commit([event(2)], []), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreFault, type(None)]


@pytest.mark.parametrize("number", [2**63, 2**64, 2**200, -(2**63) - 1])
async def test_large_integers_among_the_facts_survive(open_store: Opener, number: int) -> None:
    store = open_store()
    await store.commit([own_event(1, number=number)], [])
    assert (await store.history())[0].facts == {"number": number}


async def test_a_number_too_large_for_the_journal_is_a_fault_not_a_crash(open_store: Opener) -> None:
    store = open_store()
    with pytest.raises(StoreFault):
        await store.commit([event(2**63)], [])
    await store.commit([event(1)], [])


async def test_sixteen_callers_at_once_are_all_stored_with_an_outcome_each(open_store: Opener) -> None:
    store = open_store()
    calls = [store.commit([event(n)], [session(f"s{n}")]) for n in range(1, 17)]
    calls.insert(5, store.commit([event(3)], [session("thief")]))  # a number twice: one of both must fail
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(outcome, StoreFault) for outcome in outcomes) == 1
    assert seqs(await store.history()) == list(range(1, 17))


async def test_a_closed_store_waits_for_what_was_asked_and_refuses_the_rest(open_store: Opener) -> None:
    store = open_store()
    asked = [asyncio.ensure_future(store.commit([event(n)], [])) for n in range(1, 5)]
    await asyncio.sleep(0)
    store.close()
    await asyncio.gather(*asked)
    with pytest.raises(StoreFault):
        await store.commit([event(9)], [])
    with pytest.raises(StoreFault):
        await store.history()
    store.close()
    assert open_store().loaded.seq == 4


async def test_a_session_remembers_the_machine_it_began_on(open_store: Opener) -> None:
    store = open_store(machine="laptop")
    await store.commit([event(1)], [session("s1")])
    store.close()
    copied = open_store(machine="desktop")
    assert copied.loaded.machine == "laptop"
    await copied.commit([event(2)], [session("s1", cwd="/elsewhere"), session("s2")])
    copied.close()
    loaded = open_store(machine="desktop").loaded
    assert loaded.machine == "desktop"
    assert loaded.machines == {"s1": "laptop", "s2": "desktop"}
