"""Open the store: check the file, migrate and read it, or set it aside.

Checked at each start, in a time that does not grow with the journal
  - the header: a database, ours, of a version we know (schema.py);
  - SQLite's own check of the size: a file cut short is corrupt to it at the first read;
  - the log: no commit lies behind a damaged part of it (damage.py);
  - the tables exist, and every page of them and of their indices is sound, except the journal's;
  - every row matches its checksum and decodes, except the journal's, of which the newest and oldest events
    do.
Pages in the middle of the journal are not read. Damage there is met by the query, commit or prune that
touches it, reported as `corrupt`, and leaves a mark: the next start then checks the whole file.

Rules
  1. An I/O error or missing rights are not damage: they are reported, and the file stays where it is.
  2. Recovery reads before anything writes: what is loaded is what was stored.
  3. A damaged file is not written to. While it is checked, a second, read-only connection holds it open:
     otherwise the last connection that can write would write the log back as it closes.

Not here: header, settings and migrations (schema.py), renaming (damage.py), bodies (store/codec.py).
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from headcount.core.values.session import Session, SessionId
from headcount.private_files import make_room
from headcount.store.codec import (
    EventRow,
    decode_claim,
    decode_event,
    decode_leftover,
    decode_request,
    decode_session,
)
from headcount.store.interface import Loaded
from headcount.store.sql_files import query
from headcount.store.sqlite.damage import check_log, is_orphaned, is_suspect, set_aside, told_lost, trust
from headcount.store.sqlite.driver_errors import translate
from headcount.store.sqlite.row_checksums import sound, summed
from headcount.store.sqlite.schema import (
    Damaged,
    check_header,
    check_version,
    connect,
    create,
    look_at,
    migrate,
    version,
)

_TABLES: Final = frozenset({"meta", "sessions", "events"})
_CHECKED: Final = (
    "meta",
    "sessions",
    "claims",
    "requests",
    "tokens",
    "leftovers",
)  # as far as the file has them yet
LOSS_ACCEPTED: Final = "loss_accepted"
_TRIED_EVENTS: Final = (
    100  # at each end of the journal: more than fit on one page, so that a misplaced one shows
)
_MS: Final = 1000
_UNREADABLE: Final = (msgspec.MsgspecError, TypeError, ValueError)


def open_file(
    path: Path, machine: str, now: Callable[[], float], lost: str | None = None
) -> tuple[sqlite3.Connection, Loaded]:
    """`lost`: why what lies there is not the store that was served."""
    with _told_as_faults(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Numbers are given once: those of a lost journal were small, a clock's are larger.
        born = str(int(now() * _MS))
        meta = {"machine": machine, "born": born}
        lost = lost or told_lost(path)
        try:
            if lost and (path.exists() or is_orphaned(path)):
                raise Damaged(lost)
            if lost:
                trust(path)
                create(path, {**meta, "lost": lost, "seq": born})
            return _open(path, machine, meta)
        except Damaged:
            aside = set_aside(path, now())
        create(path, {**meta, "set_aside": str(aside), "seq": born})
        return _open(path, machine, meta)


def _open(path: Path, machine: str, meta: dict[str, str]) -> tuple[sqlite3.Connection, Loaded]:
    is_new = not path.exists()
    if is_new:
        if is_orphaned(path):
            raise Damaged("its log is there, the file is not")
        create(path, meta)
    check_header(path)
    path.chmod(0o600)  # SQLite gives its side files the same
    make_room(f"{path}-shm")  # SQLite writes into it whatever it is; it holds nothing that lasts
    with _damage_named(), _only_looked_at(path):
        check_log(path)
        connection = connect(path)
        try:
            loaded = _checked(connection, path, is_new)
            _remember_machine(connection, machine, loaded)
        except BaseException:
            connection.close()
            raise
    trust(path)
    return connection, loaded


@contextmanager
def _only_looked_at(path: Path) -> Iterator[None]:
    onlooker = look_at(path)
    try:
        yield
    finally:
        onlooker.close()


def _checked(connection: sqlite3.Connection, path: Path, is_new: bool) -> Loaded:
    check_version(path, version(connection))
    whole = is_suspect(path)
    _check_pages(connection, whole=whole)
    connection.execute("BEGIN IMMEDIATE")  # rights and rivals are told now, not at the first commit
    connection.execute("ROLLBACK")
    migrate(connection)
    if whole:
        _check_journal(connection)
    return _load(connection, is_new)


def _check_pages(connection: sqlite3.Connection, *, whole: bool) -> None:
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not found >= _TABLES:
        raise Damaged(f"it has no {', '.join(sorted(_TABLES - found))}")
    checks = [f"integrity_check({name})" for name in _CHECKED if name in found]
    if whole:
        checks = ["integrity_check(1)"]
    for check in checks:
        ((verdict,), *_) = connection.execute(f"PRAGMA {check}").fetchall()
        if verdict != "ok":
            raise Damaged(verdict)


def _check_journal(connection: sqlite3.Connection) -> None:
    """Every event of it; only after a suspicion."""
    _check_events(connection.execute(query("all_events")))


def _check_events(rows: Iterable[EventRow]) -> None:
    """Each as it was written, and none missing between them."""
    before = None
    for row in rows:
        decode_event(sound(row))
        if before is not None and row[0] != before + 1:
            raise Damaged(f"events are missing or misplaced between {before} and {row[0]}")
        before = row[0]


def _load(connection: sqlite3.Connection, is_new: bool) -> Loaded:
    meta: dict[str, str] = dict(sound(row) for row in connection.execute(query("recall")))
    sessions: list[Session] = []
    machines: dict[SessionId, str] = {}
    for row in connection.execute(query("load_sessions")):
        *_, machine, body = sound(row)
        session = decode_session(body)
        sessions.append(session)
        machines[session.id] = machine
    claims = [decode_claim(sound(row)[-1]) for row in connection.execute(query("load_claims"))]
    requests = [decode_request(sound(row)[-1]) for row in connection.execute(query("load_requests"))]
    leftovers = [decode_leftover(sound(row)[-1]) for row in connection.execute(query("load_leftovers"))]
    for row in connection.execute(query("load_tokens")):
        sound(row)  # they are read later, when only a new start could set the file aside
    seq, last_seen = _journal_end(connection)
    # Told again until the daemon has written that it knows: a crash in between must not hush it up.
    aside = meta.get("set_aside") if last_seen is None else None
    return Loaded(
        sessions=sessions,
        seq=max(seq, int(meta.get("seq", "0"))),
        machine=None if is_new or aside else meta["machine"],
        last_seen=last_seen,
        set_aside=Path(aside) if aside else None,
        machines=machines,
        claims=claims,
        requests=requests,
        leftovers=leftovers,
        loss=None if LOSS_ACCEPTED in meta else meta.get("set_aside") or meta.get("lost"),
        born=int(meta.get("born", "0")),
    )


def _journal_end(connection: sqlite3.Connection) -> tuple[int, float | None]:
    limit = {"limit": _TRIED_EVENTS}
    _check_events(connection.execute(query("oldest_events"), limit))
    newest = connection.execute(query("newest_events"), limit).fetchall()
    _check_events(reversed(newest))
    last = max((seq for (seq,) in connection.execute(query("latest_numbers"), limit)), default=0)
    if last > (newest[0][0] if newest else 0):
        raise Damaged(f"the journal ends before event {last}, which its index knows")
    return (newest[0][0], newest[0][1]) if newest else (0, None)


def _remember_machine(connection: sqlite3.Connection, machine: str, loaded: Loaded) -> None:
    if loaded.machine not in (None, machine):
        connection.execute(query("remember"), summed(("machine", machine)))


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # Without a code it is Python's complaint: a text column that holds no text.
        if getattr(error, "sqlite_errorcode", None) is None or translate(error, Path()).kind == "corrupt":
            raise Damaged(str(error)) from error
        raise
    except (*_UNREADABLE, KeyError) as error:
        raise Damaged(f"a row cannot be read: {error}") from error


@contextmanager
def _told_as_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise translate(error, path) from error
