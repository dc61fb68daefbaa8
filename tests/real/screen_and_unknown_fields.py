"""What a person sees of a real conversation, and whether the CLI wrote names into its files that are not known.

Not here: the known names (known_names.py).
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.real.known_names import KNOWN
from tests.rig.daemon.real_daemon import Daemon

Named = tuple[str, Any]  # the kind of a name, and the name

FILES = {
    "claude-code": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "gemini": ".gemini/tmp/*/chats/session-*.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
}


def check_peek(daemon: Daemon, id: str, *wanted: tuple[str, str]) -> None:
    lines = [(each["who"], each["text"]) for each in daemon.get(f"/v1/sessions/{id}/peek")["lines"]]
    assert set(wanted) <= set(lines), lines
    assert any(who == "user" for who, _ in lines), lines


def check_every_name_is_known(agent: str, home: Path) -> None:
    assert unknown_names(agent, home) == set()


def unknown_names(agent: str, home: Path) -> set[Named]:
    """What the agent's files below that home hold that is not in the table; there must be such a file."""
    files = list(home.glob(FILES[agent]))
    assert files, f"{agent} wrote no {FILES[agent]}"
    named = {each for path in files for each in _names(agent, path)}
    return {(kind, name) for kind, name in named if name is not None and name not in KNOWN[agent][kind]}


def _names(agent: str, path: Path) -> Iterator[Named]:
    if agent == "opencode":
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            yield from _in_database(database)
        return
    names_in = {"claude-code": _in_claude_line, "codex": _in_codex_line, "gemini": _in_gemini_line}[agent]
    for row in path.read_bytes().split(b"\n")[:-1]:  # the last one may be half written
        yield from names_in(json.loads(row))


def _fields(record: Iterable[str], kind: str = "field") -> Iterator[Named]:
    return ((kind, name) for name in record)


def _in_claude_line(line: dict[str, Any]) -> Iterator[Named]:
    yield from _fields(line)
    yield "record", ":".join(filter(None, (line["type"], line.get("subtype"))))
    yield "permission mode", line.get("permissionMode")
    message = line.get("message") if line["type"] in ("user", "assistant") else None
    if isinstance(message, dict):
        yield "stop reason", message.get("stop_reason")
        blocks = message["content"] if isinstance(message["content"], list) else []
        yield from _fields((block["type"] for block in blocks), "block")


def _in_codex_line(line: dict[str, Any]) -> Iterator[Named]:
    yield from _fields(line)
    yield "line", line["type"]
    kind = {"event_msg": "event", "response_item": "item"}.get(line["type"])
    if kind is not None:
        payload = line["payload"]
        yield kind, payload["type"]
        yield "role", payload.get("role")
        if payload["type"] == "item_completed":
            yield "completed item", payload["item"]["type"]


def _in_gemini_line(line: dict[str, Any]) -> Iterator[Named]:
    yield from _fields(line)
    yield from _fields(line.get("$set", ()))
    yield "message" if "id" in line else "kind", line["type"] if "id" in line else line.get("kind")
    parts = line.get("content") if isinstance(line.get("content"), list) else []
    yield from (each for part in parts or () for each in _fields(part, "part"))
    yield from _fields((call["status"] for call in line.get("toolCalls") or ()), "call status")


def _in_database(database: sqlite3.Connection) -> Iterator[Named]:
    for table in ("session", "message", "part"):
        for [name] in database.execute("SELECT name FROM pragma_table_info(?)", (table,)):
            yield "column", f"{table}.{name}"
    for [data] in database.execute("SELECT data FROM message"):
        message = json.loads(data)
        yield from _fields(message, "message field")
        yield from (("role", message["role"]), ("finish", message.get("finish")))
    for [data] in database.execute("SELECT data FROM part"):
        part = json.loads(data)
        yield from (("part", part["type"]), ("tool status", part.get("state", {}).get("status")))
