"""The life of a token: as long as its process, a day in doubt, and one step to look it up."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headcount.core.values.process import ProcessFacts
from headcount.daemon.identity.tokens import SessionTokens, hash_of
from headcount.store.sqlite.tokens_and_notes import TokenRow
from headcount.times import TOKEN_CEILING, TOKEN_RENEW_AFTER
from tests.rig.kernel.fake_kernel import FakeKernel


class Table:
    """Rows as the store keeps them, and how often it was written."""

    def __init__(self) -> None:
        self.rows: dict[str, TokenRow] = {}
        self.writes = 0

    async def load(self) -> list[TokenRow]:
        return list(self.rows.values())

    async def keep(self, rows: Iterable[TokenRow], dropped: Iterable[str] = ()) -> None:
        rows, dropped = list(rows), list(dropped)
        self.writes += bool(rows or dropped)
        self.rows |= {row.hash: row for row in rows}
        for hash in dropped:
            del self.rows[hash]


class Time:
    at = 1_000_000.0

    def now(self) -> float:
        return self.at

    def boottime(self) -> float:
        return self.at


class Mint:
    def __init__(self, directory: Path) -> None:
        self.kernel = FakeKernel()
        self.clock = Time()
        self.table = Table()
        self.directory = directory
        self.process = self.kernel.spawn(comm="bot")
        self.tokens = self.opened()

    def opened(self) -> SessionTokens:
        return SessionTokens(self.directory, self.table, self.kernel.processes(None), self.clock)

    async def mint(self) -> str:
        facts = self.kernel.processes(None).look(self.process.pid)
        assert isinstance(facts, ProcessFacts)
        return (await self.tokens.mint(facts.identity)).read_text()

    def is_good(self, token: str) -> bool:
        known = self.tokens.find(token)
        return known is not None and not known.is_over


@pytest.fixture
def mint(tmp_path: Path) -> Mint:
    return Mint(tmp_path / "tokens")


async def test_only_a_hash_is_stored(mint: Mint) -> None:
    token = await mint.mint()
    assert [row.hash for row in mint.table.rows.values()] == [hash_of(token)]
    assert token not in repr(mint.table.rows)


async def test_a_living_processs_token_outlives_the_ceiling(mint: Mint) -> None:
    token = await mint.mint()
    for _ in range(5):
        mint.clock.at += TOKEN_CEILING * 0.9
        assert mint.is_good(token)
    mint.clock.at += TOKEN_CEILING * 2  # nobody asked for two days; it lives all the same
    assert mint.is_good(token)


async def test_in_doubt_it_is_good_for_a_day_since_it_was_last_seen_alive(mint: Mint) -> None:
    token = await mint.mint()
    mint.kernel.exhaust_descriptors()
    mint.clock.at += TOKEN_CEILING - 1
    assert mint.is_good(token)
    mint.clock.at += 2
    assert not mint.is_good(token)
    mint.kernel.free_descriptors()
    assert not mint.is_good(token)  # over is over


async def test_it_ends_with_its_process_and_is_not_the_next_ones_with_the_same_pid(mint: Mint) -> None:
    token = await mint.mint()
    mint.kernel.exit(mint.process.pid)
    mint.kernel.reuse(mint.process.pid, comm="bot")
    assert not mint.is_good(token)
    assert list(mint.directory.iterdir()) == []


async def test_whose_a_file_was_is_known_after_it_is_gone_and_after_a_restart(mint: Mint) -> None:
    """What the process left still carries the path."""
    await mint.mint()
    (path,) = mint.directory.iterdir()
    mint.kernel.exit(mint.process.pid)
    mint.tokens = mint.opened()
    await mint.tokens.open()
    assert not path.exists()
    assert [(file, each.pid) for file, each in mint.tokens.files().items()] == [(str(path), mint.process.pid)]
    mint.clock.at += TOKEN_CEILING + 1
    await mint.tokens.tidy()
    assert mint.tokens.files() == {}


async def test_one_that_is_over_is_known_as_such_for_a_day_and_then_forgotten(mint: Mint) -> None:
    token = await mint.mint()
    mint.kernel.exit(mint.process.pid)
    known = mint.tokens.find(token)
    assert known is not None
    assert known.is_over
    await mint.tokens.tidy()
    assert len(mint.table.rows) == 1
    mint.clock.at += TOKEN_CEILING + 1
    await mint.tokens.tidy()
    assert mint.tokens.find(token) is None
    assert mint.table.rows == {}


async def test_asking_writes_nothing_and_renewing_is_seldom(mint: Mint) -> None:
    token = await mint.mint()
    for _ in range(10):
        mint.clock.at += TOKEN_RENEW_AFTER / 20
        assert mint.is_good(token)
    await mint.tokens.tidy()
    assert mint.table.writes == 1
    mint.clock.at += TOKEN_RENEW_AFTER
    await mint.tokens.tidy()
    assert mint.table.writes == 2


async def test_the_renewal_survives_a_restart(mint: Mint) -> None:
    token = await mint.mint()
    mint.clock.at += TOKEN_CEILING * 3
    mint.tokens = mint.opened()
    await mint.tokens.open()
    mint.kernel.exhaust_descriptors()
    mint.clock.at += TOKEN_CEILING - 1
    assert mint.is_good(token)


async def test_a_token_that_could_not_be_stored_leaves_no_file(mint: Mint) -> None:
    async def full(rows: Any, dropped: Any = ()) -> None:
        raise OSError(28, "No space left on device")

    mint.table.keep = full  # type: ignore[method-assign]
    with pytest.raises(OSError):
        await mint.mint()
    assert list(mint.directory.iterdir()) == []


async def test_looking_one_up_takes_one_step(mint: Mint) -> None:
    token = await mint.mint()
    (row,) = mint.table.rows.values()

    class Counting(dict[str, TokenRow]):
        steps = 0

        def get(self, key: Any, default: Any = None) -> Any:
            Counting.steps += 1
            return super().get(key, default)

        def values(self) -> Any:
            raise AssertionError("it walked over all tokens")

    mint.tokens._rows = Counting({f"other-{n}": row for n in range(1000)} | {row.hash: row})
    assert mint.is_good(token)
    assert Counting.steps == 1


async def test_one_that_was_taken_back_stays_so_after_a_restart(mint: Mint) -> None:
    token = await mint.mint()
    (row,) = mint.table.rows.values()
    mint.tokens.withdraw(row.process)
    await mint.tokens.save()
    mint.tokens = mint.opened()
    await mint.tokens.open()
    assert not mint.is_good(token)  # though its process lives


async def test_what_could_not_be_stored_is_stored_with_the_next(mint: Mint) -> None:
    token = await mint.mint()
    (row,) = mint.table.rows.values()
    mint.tokens.withdraw(row.process)
    keep = mint.table.keep

    async def full(rows: Any, dropped: Any = ()) -> None:
        raise OSError(28, "No space left on device")

    mint.table.keep = full  # type: ignore[method-assign]
    with pytest.raises(OSError):
        await mint.tokens.save()
    mint.table.keep = keep  # type: ignore[method-assign]
    await mint.tokens.tidy()
    assert mint.table.rows[hash_of(token)].ended_at is not None
