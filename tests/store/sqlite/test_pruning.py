"""Forgetting: by age, then by size, never the newest number, never long in anybody's way."""

import asyncio

from tests.store.conftest import Opener
from tests.store.sample_values import BEGAN, ended, event, session

MUCH = 10**12


async def test_what_is_older_than_the_bound_goes_and_nothing_else(open_store: Opener) -> None:
    store = open_store()
    rows = [ended("old", BEGAN + 10), ended("young", BEGAN + 500), session("alive", started_at=BEGAN - 9999)]
    await store.commit([event(n) for n in range(1, 301)], rows)
    assert await store.prune(before=BEGAN + 200, max_bytes=MUCH) == 199 + 1
    assert await store.oldest() == 200
    assert [one.seq for one in await store.history()] == list(range(200, 301))
    store.close()
    assert {one.id for one in open_store().loaded.sessions} == {"young", "alive"}


async def test_the_number_goes_on_even_when_everything_is_too_old(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(n) for n in range(1, 121)], [])
    await store.prune(before=BEGAN + 10**6, max_bytes=MUCH)
    assert await store.oldest() == 120
    store.close()
    assert open_store().loaded.seq == 120


async def test_the_size_bound_takes_the_oldest_and_gives_the_disk_its_room_back(open_store: Opener) -> None:
    store = open_store()
    for start in range(1, 4001, 500):
        await store.commit([event(n, name="x" * 200) for n in range(start, start + 500)], [])
    large, bound = store.size(), 400_000
    assert large > 2 * bound
    await store.prune(before=0.0, max_bytes=bound)
    kept = await store.history(limit=5000)
    assert 100 < len(kept) < 4000
    assert [one.seq for one in kept] == list(range(4001 - len(kept), 4001))  # no gap
    store.close()
    assert store.size() <= bound


async def test_a_bound_that_cannot_be_met_ends_with_the_newest_event(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(n) for n in range(1, 200)], [session(f"s{n}") for n in range(50)])
    await store.prune(before=0.0, max_bytes=1)
    assert [one.seq for one in await store.history()] == [199]


async def test_one_event_from_a_wrong_clock_neither_empties_nor_holds_the_journal(open_store: Opener) -> None:
    store = open_store(now=BEGAN + 1000)
    events = [event(n) for n in range(1, 301)]
    events[49] = event(50, at=BEGAN + 10**9)  # from the future
    events[249] = event(250, at=0.0)  # from 1970
    await store.commit(events, [])
    await store.prune(before=BEGAN + 100, max_bytes=MUCH)
    assert [one.seq for one in await store.history()] == list(range(100, 301))


async def test_commits_go_between_the_bites_of_a_prune(open_store: Opener) -> None:
    store = open_store()
    await store.commit([event(n) for n in range(1, 5001)], [])
    pruning = asyncio.ensure_future(store.prune(before=BEGAN + 4900, max_bytes=MUCH))
    between = 0
    while not pruning.done():
        between += 1
        await store.commit([event(5000 + between)], [])
    assert await pruning == 4899
    assert between > 20
