"""Remove names and labels that earlier versions may have made from a prompt, when an older store is migrated.

Removed: every name that was not given to Headcount itself (`launch`, `register`), since no row says who gave
it; every title; labels of failures and of background work that is no shell; what the id of a subagent says
beside its number; names in alarms. The agents' own files name living sessions again.

Rules
  1. A row is changed only if its checksum matches, and gets a new one.
  2. The file is rewritten afterwards and its log emptied: free pages and old frames still hold the old text.
  3. All of it can be done twice. The version is written last, so that a cleaning that was cut short is done
     again.

Not here: files that were set aside as damaged, which are never changed (damage.py).
"""

import re
import sqlite3
from collections.abc import Callable
from typing import Any, Final

import msgspec

from headcount.core.values.report import bare_id
from headcount.store.sql_files import query
from headcount.store.sqlite.row_checksums import Row, sound, summed

Document = dict[str, Any]  # a body, as an older version wrote it

CLEANED: Final = 6
"""The first version whose rows never held such text."""

_NAMED: Final = re.compile(r"(also edited by \S{4}|also at work in .*?\): \S{4}) .*", re.DOTALL)
_AT_ONCE: Final = 5_000  # events: a journal may be larger than memory


def clean(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        _clean_sessions(connection)
        _clean_events(connection)
        is_empty = connection.execute(query("oldest_seq")).fetchone() == (None,)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors have rolled back already
            connection.execute("ROLLBACK")
        raise
    if not is_empty:  # a store that is being made has nothing to forget
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _clean_sessions(connection: sqlite3.Connection) -> None:
    for row in connection.execute(query("load_sessions")).fetchall():
        _rewrite(connection, "clean_session", row, _clean_session)


def _clean_events(connection: sqlite3.Connection) -> None:
    bounds = {"after": -1, "limit": _AT_ONCE}
    while rows := connection.execute(query("events_to_clean"), bounds).fetchall():
        bounds["after"] = rows[-1][0]
        for row in rows:
            _rewrite(connection, "clean_event", row, _clean_event)


def _rewrite(connection: sqlite3.Connection, name: str, row: Row, change: Callable[[Document], None]) -> None:
    *columns, body = sound(row)
    told = msgspec.json.decode(body)
    change(told)
    *_, body, total = summed((*columns, msgspec.json.encode(told)))
    connection.execute(query(name), (body, total, row[0]))


def _clean_event(told: Document) -> None:
    _clean_session(told.get("delta", {}))
    facts = told.get("facts", {})
    if "alarm" in facts:
        facts["alarm"] = _NAMED.sub(r"\1", str(facts["alarm"]))


def _clean_session(told: Document) -> None:
    """The whole of one, or what an event changed of it."""
    gone = {"title"}
    if told.get("name") != (told.get("registration") or {}).get("name"):
        gone.add("name")
    for field in gone:
        told.pop(field, None)
    if "origins" in told:
        told["origins"] = [each for each in told["origins"] if each["field"] not in gone]
    for each in told.get("background", ()):
        each["id"] = bare_id(each["id"])
        if each["kind"] != "shell":
            each["label"] = ""
    if "alarms" in told:
        told["alarms"] = [_NAMED.sub(r"\1", each) for each in told["alarms"]]
    for word in (told.get("turned"), told.get("activity")):
        if word and word.get("failure"):
            word.pop("label", None)
