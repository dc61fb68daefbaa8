"""Rows that nobody wrote as they now are: noticed by their sums, where SQLite finds nothing wrong."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from headcount.core.state.claims import Entries
from headcount.store.interface import StoreFault
from headcount.store.sqlite.row_checksums import Unsound, sound, summed
from tests.campaign.storage.sample_store import make
from tests.store.conftest import Opener
from tests.store.sample_values import event, session
from tests.store.sqlite.test_claims import claim
from tests.store.sqlite.test_damage import PAGE, assert_set_aside, fill, pages_of

TABLES = {
    "meta": ("key", "value"),
    "sessions": ("id", "agent", "conversation", "liveness", "started_at", "ended_at", "machine", "body"),
    "events": ("seq", "at", "type", "session", "item", "body"),
    "claims": ("item", "fence", "held", "body"),
    "requests": ("id", "at", "body"),
    "tokens": ("hash", "body"),
    "leftovers": ("id", "kind", "session", "gone_at", "body"),
}
COLUMNS = [(table, column) for table, columns in TABLES.items() for column in columns]


def bent(value: object) -> object:
    """As one flipped bit would leave it."""
    if isinstance(value, bytes):
        return value.replace(b"1", b"3", 1) if b"1" in value else value[:-2] + b"x" + value[-1:]
    if isinstance(value, str):
        return value[:-1] + chr(ord(value[-1]) ^ 64)
    return 1.5 if value is None else value + 4096  # type: ignore[operator]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = tmp_path_factory.mktemp("sample")
    make(place)
    return (place / "headcount.db").read_bytes()


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_change_of_any_column_of_any_table_is_damage(
    open_store: Opener, path: Path, sample: bytes, table: str, column: str
) -> None:
    path.parent.mkdir()
    path.write_bytes(sample)
    other = sqlite3.connect(path, isolation_level=None)
    newest = "ORDER BY seq DESC" if table == "events" else ""  # of the journal a start reads the ends
    (value,) = other.execute(f"SELECT {column} FROM {table} {newest} LIMIT 1").fetchone()
    changed = other.execute(
        f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (bent(value), value)
    ).rowcount
    assert changed > 0
    assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the control: SQLite sees nothing"
    other.close()
    assert open_store(now=1_753_963_200.0).loaded.set_aside is not None


def test_a_row_from_before_there_were_sums_is_believed(open_store: Opener, path: Path) -> None:
    fill(open_store, 20)
    old = sqlite3.connect(path, isolation_level=None)
    for table in TABLES:
        old.execute(f"UPDATE {table} SET sum = NULL")
    old.close()
    loaded = open_store().loaded
    assert (loaded.set_aside, len(loaded.sessions), loaded.seq) == (None, 50, 20)


def test_a_session_that_began_elsewhere_keeps_its_sum_when_it_is_written_here(open_store: Opener) -> None:
    """The machine of a row stays the first one's, and the sum is over that."""
    store = open_store(machine="laptop")
    asyncio.run(store.commit([event(1)], [session()]))
    store.close()
    store = open_store(machine="desktop")
    asyncio.run(store.commit([event(2)], [session(name="later")]))
    store.close()
    loaded = open_store(machine="desktop").loaded
    assert (loaded.set_aside, dict(loaded.machines)) == (None, {"s1": "laptop"})


@pytest.mark.parametrize("body", ["NULL", "7", "x'7b7d'"], ids=["nothing", "a number", "another body"])
def test_an_event_that_was_changed_is_met_by_the_reader_and_leads_to_a_full_check(
    open_store: Opener, path: Path, body: str
) -> None:
    fill(open_store, 400)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA writable_schema = ON")
    other.execute("UPDATE sqlite_schema SET sql = replace(sql, 'body    BLOB NOT NULL', 'body    BLOB')")
    other.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(f"UPDATE events SET body = {body} WHERE seq = 200")  # neither end is read at a start
    other.close()
    store = open_store()
    assert store.loaded.set_aside is None
    with pytest.raises(StoreFault) as told:
        asyncio.run(store.history(limit=1000))
    assert told.value.kind == "corrupt"
    store.close()
    assert_set_aside(open_store, path)


@pytest.mark.parametrize(
    "change", ["DELETE FROM events WHERE seq = 200", "UPDATE events SET seq = 9999 WHERE seq = 200"]
)
def test_an_event_that_is_missing_in_the_journals_middle_is_damage(
    open_store: Opener, path: Path, change: str
) -> None:
    fill(open_store, 400)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(change)
    other.close()
    store = open_store()
    if store.loaded.set_aside is None:  # else the changed one stood at the journal's end
        with pytest.raises(StoreFault) as told:
            asyncio.run(store.history(limit=1000))
        assert told.value.kind == "corrupt"


def test_a_sum_is_of_values_as_sqlite_gives_them_back() -> None:
    assert sound(summed(("a", 5, None, b"x"))) == ("a", 5, None, b"x")
    assert sound((*("a", 5.0, None, b"x"), summed(("a", 5, None, b"x"))[-1])) == ("a", 5.0, None, b"x")
    with pytest.raises(Unsound):
        sound((*("a", 6, None, b"x"), summed(("a", 5, None, b"x"))[-1]))


def test_fences_are_loaded_as_they_were_granted_or_not_at_all(open_store: Opener, path: Path) -> None:
    """The worst of silent damage: a fence that falls would be given a second time."""
    store = open_store()
    given = claim(1_000_000)
    asyncio.run(store.commit([event(1)], [], (), Entries(claims={given.item: given})))
    store.close()
    data = path.read_bytes()
    assert data.count(b'"fence":1000000') >= 1
    path.write_bytes(data.replace(b'"fence":1000000', b'"fence":0000000'.replace(b"0000000", b"1000001")))
    loaded = open_store().loaded
    assert (loaded.claims, loaded.set_aside is not None) == ([], True)


def test_pages_of_the_journal_that_changed_places_do_not_give_a_number_twice(
    open_store: Opener, path: Path
) -> None:
    """The last page tells the last number; after such a swap it would be an old one."""
    fill(open_store, 2000)
    leaves = pages_of(path, "events")
    data = bytearray(path.read_bytes())
    one, other = ((leaves[nth] - 1) * PAGE for nth in (-1, len(leaves) // 2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]
    path.write_bytes(data)
    naive = sqlite3.connect(path)
    assert naive.execute("SELECT max(seq) FROM events").fetchone()[0] < 2000, "the control"
    naive.close()
    assert_set_aside(open_store, path)


def test_a_text_that_is_none_any_more_is_met_as_damage(open_store: Opener, path: Path) -> None:
    fill(open_store, 400)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("UPDATE events SET type = CAST(x'73ff' AS TEXT) WHERE seq = 200")
    other.close()
    store = open_store()
    with pytest.raises(StoreFault) as told:
        asyncio.run(store.history(limit=1000))
    assert told.value.kind == "corrupt"
    store.close()
    assert_set_aside(open_store, path)


def test_a_journal_that_ends_before_its_index_does_is_damage(open_store: Opener, path: Path) -> None:
    """With its root and a leaf swapped the table is that one leaf: sound, gapless, and short."""
    fill(open_store, 2000)
    look = sqlite3.connect(path)
    (root,) = look.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").fetchone()
    look.close()
    leaf = pages_of(path, "events")[7]
    data = bytearray(path.read_bytes())
    one, other = (root - 1) * PAGE, (leaf - 1) * PAGE
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]
    path.write_bytes(data)
    naive = sqlite3.connect(path)
    assert 0 < naive.execute("SELECT max(seq) FROM events").fetchone()[0] < 2000, "the control"
    naive.close()
    assert_set_aside(open_store, path)
