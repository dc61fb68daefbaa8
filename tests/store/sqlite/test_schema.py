"""The file's form: migrations, versions, rights."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest

from headcount.store.interface import NewerSchema
from headcount.store.sql_files import MIGRATIONS, QUERIES, SCHEMA_VERSION, Migration
from headcount.store.sqlite import schema
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.conftest import Opener
from tests.store.sample_values import event, session

SCHEMA = Path(schema.__file__).parents[1] / "sql" / "schema.sql"


def shape(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    return [(kind, name, " ".join(sql.split())) for kind, name, sql in rows]


def test_all_migrations_together_make_the_schema() -> None:
    migrated, written = sqlite3.connect(":memory:", isolation_level=None), sqlite3.connect(":memory:")
    schema.migrate(migrated)
    written.executescript(SCHEMA.read_text())
    assert shape(migrated) == shape(written)
    assert schema.version(migrated) == SCHEMA_VERSION
    migrated.close()
    written.close()


def test_every_query_is_sql_that_this_schema_understands() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    fragments = {name for name in QUERIES if name.startswith("history_")}
    for name in QUERIES.keys() - fragments:
        sql = QUERIES[name]
        given = dict.fromkeys(("key", "value", "limit", "after", "since", "before", "now", "below"), 1)
        connection.execute("EXPLAIN " + sql, given if ":" in sql else (1,) * sql.count("?")).fetchall()
    connection.close()


def test_a_migration_that_fails_leaves_its_version_and_nothing_half_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    before = shape(connection)
    broken = Migration(SCHEMA_VERSION + 1, "broken", "CREATE TABLE half (a); CREATE TABLE sessions (b);")
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(connection)
    assert (shape(connection), schema.version(connection)) == (before, SCHEMA_VERSION)
    connection.close()


def test_an_older_file_is_brought_up_to_date_with_its_rows(
    open_store: Opener, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    asyncio.run(store.commit([event(1)], [session()]))
    store.close()
    later = Migration(SCHEMA_VERSION + 1, "later", "CREATE TABLE later (a TEXT);")
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, later))
    monkeypatch.setattr(schema, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    store = open_store()
    assert store.loaded.sessions == [session()]
    store.close()
    look = sqlite3.connect(path)
    assert schema.version(look) == SCHEMA_VERSION + 1
    assert ("later",) in look.execute("SELECT name FROM sqlite_schema").fetchall()
    look.close()


def test_a_newer_file_is_refused_untouched(open_store: Opener, path: Path) -> None:
    open_store().close()
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")
    newer.close()
    path.chmod(0o640)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(NewerSchema, match="upgrade headcount") as told:
        open_store()
    assert (told.value.found, told.value.known) == (SCHEMA_VERSION + 7, SCHEMA_VERSION)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_newer_version_that_is_still_in_the_log_is_refused_too(open_store: Opener, path: Path) -> None:
    open_store().close()
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute("PRAGMA wal_autocheckpoint = 0")
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")
    with pytest.raises(NewerSchema):  # its log is not checkpointed while it is open
        open_store()
    newer.close()


def test_only_its_owner_can_read_the_store(open_store: Opener, path: Path) -> None:
    store = open_store()
    asyncio.run(store.commit([event(1)], []))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(("headcount.db", "headcount.db-wal", "headcount.db-shm"), 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()
    path.chmod(0o644)
    open_store()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_settings_that_durability_rests_on_are_set(open_store: Opener) -> None:
    store: SqliteStore = open_store()

    def settings(connection: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "auto_vacuum", "application_id")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    found = asyncio.run(store._writer.run(settings))
    assert found == ["wal", 2, 1, 2, schema.APPLICATION_ID]


def test_a_closed_store_is_one_file(open_store: Opener, path: Path) -> None:
    store = open_store()
    asyncio.run(store.commit([event(1)], []))
    asyncio.run(store.history())
    store.close()
    assert [file.name for file in path.parent.iterdir()] == ["headcount.db"]
