"""Claims in the store: one commit with their events, fences that only grow, a loss that is not forgotten."""

import random
import sqlite3
from pathlib import Path

import pytest

from headcount.core.state.claims import AnsweredRequest, Entries
from headcount.core.values.claim import Claim, Freed, freed
from headcount.core.values.events import Event, EventType, apply_claim
from headcount.core.values.item import Item
from headcount.store.interface import StoreFault
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import process
from tests.store.conftest import Opener
from tests.store.sample_values import BEGAN, event
from tests.store.sqlite.test_damage import fill, garble, pages_of

A = process(100)


def claim(fence: int, item: str = "task:x", **more: object) -> Claim:
    given = {"session": "s1", "conversation": "c1", "note": "ünï", "request": f"r{fence}"} | more
    return Claim(Item(item), fence, A, since=BEGAN, **given)


def entries(*claims: Claim, **more: object) -> Entries:
    return Entries(claims={each.item: each for each in claims}, **more)


def granted(seq: int, given: Claim) -> Event:
    return Event(seq, BEGAN + seq, EventType.CLAIM_GRANTED, given.session, claim=given)


async def test_claims_and_requests_are_loaded_by_the_next_start(open_store: Opener) -> None:
    store = open_store()
    held, free = claim(7), freed(claim(8, "path:/a/**"), Freed.DIED, BEGAN)
    request = AnsweredRequest("r7", BEGAN, held)
    await store.commit([granted(1, held)], [], (), entries(held, free, requests={"r7": request}))
    store.close()
    loaded = open_store().loaded
    assert sorted(loaded.claims, key=lambda each: each.fence) == [held, free]
    assert loaded.requests == [request]
    assert loaded.loss is None


async def test_events_of_an_item_are_found_by_it(open_store: Opener) -> None:
    store = open_store()
    one, other = claim(7), claim(8, "task:y")
    await store.commit([granted(1, one), event(2), granted(3, other)], [], (), entries(one, other))
    assert await store.history(item="task:x") == [granted(1, one)]
    assert await store.history(session="s1", types=["claim.granted"]) == [granted(1, one), granted(3, other)]


@pytest.mark.parametrize("worse", [claim(6), claim(7), freed(claim(6), Freed.RELEASED, BEGAN)])
async def test_a_fence_that_does_not_grow_fails_the_whole_commit(open_store: Opener, worse: Claim) -> None:
    store = open_store()
    await store.commit([granted(1, claim(7))], [], (), entries(claim(7)))
    with pytest.raises(StoreFault):
        await store.commit([granted(2, worse)], [], (), entries(worse))
    assert [each.seq for each in await store.history()] == [1]
    await store.commit([], [], (), entries(freed(claim(7), Freed.RELEASED, BEGAN)))
    await store.commit([], [], (), entries(claim(9)))
    store.close()
    assert open_store().loaded.claims == [claim(9)]


async def test_a_forgotten_request_is_gone(open_store: Opener) -> None:
    store = open_store()
    made = {name: AnsweredRequest(name, BEGAN + n, claim(7)) for n, name in enumerate("ab")}
    await store.commit([], [], (), Entries(requests=made))
    await store.commit([], [], (), Entries(forgotten=["a", "never"]))
    store.close()
    assert [each.id for each in open_store().loaded.requests] == ["b"]


async def test_a_lost_store_is_a_loss_until_somebody_accepts_it(open_store: Opener, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 999)
    store = open_store()
    assert store.loaded.loss == str(store.loaded.set_aside)
    await store.commit([event(store.loaded.seq + 1)], [])
    store.close()
    store = open_store()
    assert (store.loaded.set_aside, store.loaded.loss is None) == (None, False)
    await store.commit([], [], (), Entries(accepts_loss=True))
    store.close()
    assert open_store().loaded.loss is None


async def test_a_damaged_page_of_claims_is_found_at_the_start(open_store: Opener, path: Path) -> None:
    store = open_store()
    many = [claim(n, f"task:{n}") for n in range(1, 400)]
    await store.commit([event(1)], [], (), entries(*many))
    store.close()
    garble(path, range(pages_of(path, "claims")[-1], pages_of(path, "claims")[-1] + 1))
    loaded = open_store().loaded
    assert loaded.set_aside is not None
    assert loaded.loss is not None


def test_a_store_from_before_claims_is_brought_up_to_date(open_store: Opener, path: Path) -> None:
    fill(open_store, 20)
    old = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "DROP INDEX events_by_item", "ALTER TABLE events DROP COLUMN item", "DROP TABLE claims",
        "DROP TABLE requests", "DROP TABLE IF EXISTS tokens", "DROP TABLE leftovers", "PRAGMA user_version = 1",
        *(f"ALTER TABLE {table} DROP COLUMN sum" for table in ("meta", "sessions", "events")),
    ):  # fmt: skip
        old.execute(statement)
    old.close()
    loaded = open_store().loaded
    assert (len(loaded.sessions), loaded.seq, loaded.claims, loaded.loss) == (50, 20, [], None)


async def test_the_stored_journal_gives_the_stored_rows(open_store: Opener) -> None:
    desk, store, chance = Desk(), open_store(), random.Random(4)
    people, items = [process(100 * n) for n in range(1, 5)], ["task:a", "path:/a/**", "path:/a/b"]
    for _ in range(300):
        who, item = chance.choice(people), chance.choice(items)
        if chance.random() < 0.5:
            desk.acquire(item, who, wait=chance.choice([None, 20]))
        elif chance.random() < 0.8:
            desk.release(item, who)
        else:
            desk.die(who)
            people[people.index(who)] = process(who.pid, inode=chance.randrange(10**9))
        desk.now += 1
        if not desk.decision.is_blank:
            await store.commit(desk.decision.events, [], (), desk.decision.ledger)
    rows = {}
    for each in await store.history(limit=10_000):
        if each.claim is not None:
            rows[each.item] = apply_claim(each)
    store.close()
    loaded = {each.item: each for each in open_store().loaded.claims}
    assert loaded == rows == desk.world.book.claims
    assert len(rows) == 3
