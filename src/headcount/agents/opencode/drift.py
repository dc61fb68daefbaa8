"""Drift: what OpenCode's database holds that no table of ours knows.

Rules of this file
  1. Read only, bounded: the newest conversations, the last messages of each, the names in them.
  2. Names, counts and places are told, content never.
  3. Strange is harmless: whoever reads the database elsewhere passes it over. A column that is missing is told too:
     then nothing can be read from here.

Not here: what is known (known.py), opening the database (database.py), counting (agents/strange.py).
"""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.interface import OnFile, Scanned
from headcount.agents.opencode import known
from headcount.agents.opencode.database import FILE, directory, opened
from headcount.agents.strange import Findings, is_known

SESSIONS_MOST, EACH_MOST = 50, 20

COLUMNS = "SELECT name FROM pragma_table_info(?)"
SESSIONS = "SELECT id FROM session ORDER BY time_updated DESC LIMIT ?"
MESSAGES = """SELECT id, json_extract(data, '$.role'), json_extract(data, '$.finish'),
    (SELECT group_concat(key, ' ') FROM json_each(data)) FROM message
    WHERE session_id = ? AND json_valid(data) ORDER BY time_created DESC, id DESC LIMIT ?"""
PARTS = """SELECT json_extract(data, '$.type'), json_extract(data, '$.state.status') FROM part
    WHERE message_id = ? AND json_valid(data) LIMIT ?"""


def drift(env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
    path, found = directory(env, home) / FILE, Findings()
    try:
        with opened(path) as database:
            on_file(1, 1)
            _columns(database, path, found)
            for [id] in database.execute(SESSIONS, (SESSIONS_MOST,)).fetchall():
                _messages(database, id, f"{path} session {id}", found)
    except OSError:
        return Scanned(0, ())  # not there
    except sqlite3.Error:
        pass  # of another form, or busy: what was seen so far stands
    return Scanned(1, found.all())


def _columns(database: sqlite3.Connection, path: Path, found: Findings) -> None:
    for table, columns in known.COLUMNS.items():
        there = {str(name) for [name] in database.execute(COLUMNS, (table,))}
        if not there:
            found.add("database", "missing", table, str(path))
            continue
        found.add_all("database", "field", (f"{table}.{each}" for each in there - columns), str(path))
        found.add_all("database", "missing", (f"{table}.{each}" for each in columns - there), str(path))


def _messages(database: sqlite3.Connection, session: str, where: str, found: Findings) -> None:
    for id, role, finish, keys in database.execute(MESSAGES, (session, EACH_MOST)).fetchall():
        if not is_known(role, known.ROLES):
            found.add("database", "status", f"role={role}", where)
        if finish is not None and not is_known(finish, known.FINISHES):
            found.add("database", "status", f"finish={finish}", where)
        found.add_all("database", "field", set((keys or "").split()) - known.MESSAGE_FIELDS, where)
        for kind, status in database.execute(PARTS, (id, EACH_MOST)).fetchall():
            if not is_known(kind, known.PARTS):
                found.add("database", "block", kind, where)
            if kind == "tool" and not is_known(status, known.TOOL_STATUSES):
                found.add("database", "status", f"status={status}", where)
