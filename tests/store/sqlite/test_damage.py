"""Damage: set aside and said, never silently emptied, never deleted."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from headcount.store.interface import StoreFault
from tests.store.conftest import Opener
from tests.store.sample_values import event, session

PAGE = 4096


def fill(open_store: Opener, count: int = 400) -> None:
    store = open_store()
    events = [event(n, f"s{n % 50}", cwd="/d" * 60) for n in range(1, count + 1)]
    asyncio.run(store.commit(events, [session(f"s{n}") for n in range(50)]))
    store.close()


def garble(path: Path, pages: range, content: bytes = b"\xa5" * PAGE) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(content)


def pages_of(path: Path, table: str) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,))
        return [number for (number,) in found]
    except sqlite3.OperationalError:
        pytest.fail("this test needs a SQLite with the dbstat table")
    finally:
        connection.close()


def assert_set_aside(open_store: Opener, path: Path) -> None:
    """The damaged bytes are kept under another name, and a new store works."""
    damaged = path.read_bytes()
    store = open_store(now=1_753_963_200.0)
    aside = store.loaded.set_aside
    assert aside == path.with_name("headcount.db.corrupt-20250731T120000Z")
    assert aside.read_bytes() == damaged
    assert (store.loaded.sessions, store.loaded.machine) == ([], None)
    assert store.loaded.seq > 10**12  # numbers of the lost journal are not given again
    seq = store.loaded.seq + 1
    asyncio.run(store.commit([event(seq)], [session()]))
    store.close()
    again = open_store()
    assert (again.loaded.set_aside, again.loaded.seq, len(again.loaded.sessions)) == (None, seq, 1)


@pytest.mark.parametrize("at", [18, 19], ids=["for writing", "for reading"])
def test_a_format_that_nobody_writes_is_damage_and_not_a_file_that_may_only_be_read(
    open_store: Opener, path: Path, at: int
) -> None:
    fill(open_store)
    content = bytearray(path.read_bytes())
    content[at] ^= 0x40
    path.write_bytes(content)
    assert_set_aside(open_store, path)


def test_a_zeroed_header_is_set_aside(open_store: Opener, path: Path) -> None:
    fill(open_store)
    garble(path, range(1, 2), bytes(100))
    assert_set_aside(open_store, path)


def test_a_file_without_a_byte_is_set_aside(open_store: Opener, path: Path) -> None:
    """Accident D9: an empty file after a power cut. A store appears whole or not at all."""
    fill(open_store)
    os.truncate(path, 0)
    assert_set_aside(open_store, path)


def test_a_text_file_is_set_aside(open_store: Opener, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("not a database\n" * 100)
    assert_set_aside(open_store, path)


def test_another_programs_database_is_set_aside(open_store: Opener, path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE sessions (id)")
    other.close()
    assert_set_aside(open_store, path)


def test_a_file_cut_short_is_set_aside(open_store: Opener, path: Path) -> None:
    fill(open_store)
    os.truncate(path, path.stat().st_size // PAGE // 2 * PAGE)
    assert_set_aside(open_store, path)


def test_garbage_instead_of_pages_is_set_aside(open_store: Opener, path: Path) -> None:
    fill(open_store)
    garble(path, range(2, path.stat().st_size // PAGE + 1))
    assert_set_aside(open_store, path)


@pytest.mark.parametrize("content", [b"\xa5" * PAGE, bytes(PAGE)], ids=["garbage", "zeros"])
@pytest.mark.parametrize("tree", ["sessions", "sqlite_autoindex_sessions_1"])
def test_one_bad_page_among_the_sessions_is_set_aside(
    open_store: Opener, path: Path, tree: str, content: bytes
) -> None:
    fill(open_store)
    page = pages_of(path, tree)[-1]
    garble(path, range(page, page + 1), content)
    assert_set_aside(open_store, path)


@pytest.mark.parametrize("body", ["'{'", "'{\"id\": 3}'", "x'ff'", "7"])
def test_a_session_that_cannot_be_read_is_set_aside(open_store: Opener, path: Path, body: str) -> None:
    fill(open_store)
    writer = sqlite3.connect(path)
    writer.execute(f"UPDATE sessions SET body = {body} WHERE id = 's7'")
    writer.commit()
    writer.close()
    assert_set_aside(open_store, path)


def test_a_missing_table_is_set_aside(open_store: Opener, path: Path) -> None:
    fill(open_store)
    writer = sqlite3.connect(path)
    writer.execute("DROP TABLE events")
    writer.commit()
    writer.close()
    assert_set_aside(open_store, path)


def test_two_damaged_files_of_one_second_are_both_kept(open_store: Opener, path: Path) -> None:
    path.parent.mkdir()
    for text in ("first", "second"):
        path.write_text(text)
        open_store(now=1.0).close()
    kept = sorted(file for file in path.parent.iterdir() if "corrupt" in file.name)
    assert [file.read_text() for file in kept] == ["first", "second"]


def test_the_log_goes_aside_with_its_file(open_store: Opener, path: Path) -> None:
    fill(open_store)
    log = path.with_name("headcount.db-wal")
    log.write_bytes(b"the last commits")
    garble(path, range(1, 2), bytes(100))
    aside = open_store().loaded.set_aside
    assert aside is not None
    assert aside.with_name(aside.name + "-wal").read_bytes() == b"the last commits"


def test_a_log_without_its_file_is_set_aside_not_deleted(open_store: Opener, path: Path) -> None:
    """What a crash in the middle of setting aside leaves; SQLite would delete such a log."""
    path.parent.mkdir()
    path.with_name("headcount.db-wal").write_bytes(b"the last commits")
    aside = open_store().loaded.set_aside
    assert aside is not None
    assert aside.read_bytes() == b"the last commits"


def test_the_loss_is_told_again_until_an_event_is_stored(open_store: Opener, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("garbage")
    first = open_store()
    first.close()
    second = open_store()
    assert first.loaded.set_aside == second.loaded.set_aside is not None
    assert first.loaded.seq == second.loaded.seq


def test_a_log_cut_short_loses_its_end_and_nothing_else(
    open_store: Opener, path: Path, tmp_path: Path
) -> None:
    store = open_store()

    async def commits() -> None:
        for n in range(1, 31):
            await store.commit([event(n)], [session()])

    asyncio.run(commits())
    for end in ("", "-wal"):
        (tmp_path / f"copy.db{end}").write_bytes(path.with_name(path.name + end).read_bytes())
    store.close()
    log = tmp_path / "copy.db-wal"
    os.truncate(log, log.stat().st_size * 2 // 3)
    for end in ("", "-wal"):
        (tmp_path / f"copy.db{end}").rename(path.with_name(path.name + end))
    store = open_store()
    assert store.loaded.set_aside is None
    assert 0 < store.loaded.seq < 30
    assert [one.seq for one in asyncio.run(store.history())] == list(range(1, store.loaded.seq + 1))


def test_a_bad_page_in_the_journals_middle_is_met_later_and_leads_to_a_full_check(
    open_store: Opener, path: Path
) -> None:
    fill(open_store, 4000)
    leaves = pages_of(path, "events")
    page = leaves[len(leaves) // 2]
    garble(path, range(page, page + 1))
    store = open_store()
    assert store.loaded.set_aside is None  # the start reads only the ends
    asyncio.run(store.commit([event(4001)], [session()]))
    with pytest.raises(StoreFault, match=r"sets .* aside") as told:
        asyncio.run(store.history(limit=10_000))
    assert told.value.kind == "corrupt"
    store.close()
    assert_set_aside(open_store, path)
    assert not path.with_name("headcount.db.suspect").exists()


def test_a_suspicion_that_proves_wrong_costs_nothing(open_store: Opener, path: Path) -> None:
    fill(open_store)
    mark = path.with_name("headcount.db.suspect")
    mark.touch()
    store = open_store()
    assert (store.loaded.set_aside, store.loaded.seq) == (None, 400)
    assert not mark.exists()


def test_a_creation_that_was_cut_short_is_begun_anew(open_store: Opener, path: Path) -> None:
    path.parent.mkdir()
    path.with_name("headcount.db.new").write_bytes(b"half")
    path.with_name("headcount.db.new-journal").write_bytes(b"half")
    assert open_store().loaded.set_aside is None
    assert not path.with_name("headcount.db.new").exists()
