"""The file's header, settings and numbered migrations.

Rules
  1. A store is made beside its place and moved there whole. So a file in its place that is not a whole store
     was damaged, not half made (accident D9: the zero-byte file).
  2. Each migration is one transaction together with its number. Work that cannot be part of a transaction is
     done before it, and again if it was cut short (remove_prompt_text.py).
  3. A file of a newer version is refused before anything is opened for writing.

Not here: what is done about damage (damage.py), reading the rows (opening.py).
"""

import os
import sqlite3
import stat
from pathlib import Path
from typing import Final

from headcount.store.interface import NewerSchema
from headcount.store.sql_files import MIGRATIONS, SCHEMA_VERSION, query
from headcount.store.sqlite.remove_prompt_text import CLEANED, clean
from headcount.store.sqlite.row_checksums import summed
from headcount.times import STORE_BUSY_WITHIN

APPLICATION_ID: Final = 0x48434E54  # "HCNT"
SIDE_FILES: Final = ("-wal", "-shm", "-journal")

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_FORMATS: Final = frozenset((1, 2))  # for writing and for reading: with a journal, with a log
JOURNAL_BYTES: Final = 4 * 1024 * 1024  # what the log keeps of the disk after a checkpoint
_CHECKPOINT_PAGES: Final = (
    1000  # within a commit, which then takes 20 ms: writer.py comes before it, after the answers
)

_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",  # NORMAL loses acknowledged commits in a power cut
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",  # what a statement of many rows needs to undo itself is no file of its own
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",  # a garbled page is noticed when it is read, not when it crashes
    f"PRAGMA journal_size_limit = {JOURNAL_BYTES}",
    f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}",
)


class Damaged(Exception):
    """The file is not a store of ours, or no longer a whole one."""


def check_header(path: Path) -> None:
    """Looks before SQLite does. (Only before: closing a descriptor of a file that SQLite has open
    in this process would drop its locks.)"""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe in its place holds nobody up
    with open(fd, "rb", buffering=0) as file:
        is_plain = stat.S_ISREG(os.fstat(fd).st_mode)
        head = (file.read(_HEADER_BYTES) or b"") if is_plain else b""
    if len(head) < _HEADER_BYTES or not head.startswith(_MAGIC):
        raise Damaged("it is not a database")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise Damaged("it is not headcount's database")
    if not _FORMATS.issuperset(head[18:20]):  # SQLite would call it one that may only be read
        raise Damaged("its format is none that SQLite writes")
    check_version(path, int.from_bytes(head[60:64], "big"))


def check_version(path: Path, found: int) -> None:
    if found > SCHEMA_VERSION:
        raise NewerSchema(path, found, SCHEMA_VERSION)


def create(path: Path, meta: dict[str, str]) -> None:
    """A new empty store at `path`, which appears there at once and whole."""
    fresh = path.with_name(path.name + ".new")
    for leftover in (fresh, *(fresh.with_name(fresh.name + end) for end in SIDE_FILES)):
        leftover.unlink(missing_ok=True)  # of a creation that was cut short; nobody was answered from it
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(fresh, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # synced once, below
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(connection)
        connection.executemany(query("remember"), [summed(row) for row in meta.items()])
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    sync(fresh)
    fresh.rename(path)
    sync(path.parent)


def connect(path: Path) -> sqlite3.Connection:
    """The one read-write connection. The opener makes it, the writer's thread then owns it."""
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=rw",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=STORE_BUSY_WITHIN,
    )
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def look_at(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, with the file and its log open."""
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=ro",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=STORE_BUSY_WITHIN,
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def migrate(connection: sqlite3.Connection) -> None:
    for step in MIGRATIONS[version(connection) :]:
        try:
            if step.number == CLEANED:
                clean(connection)
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{step.sql}\nPRAGMA user_version = {step.number};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
