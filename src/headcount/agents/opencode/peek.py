"""The last lines of an OpenCode conversation as people read them: who said what, and which tools were used.

Rules of this file
  1. Only when a person asks, only the last messages, and of each part only its beginning; nothing is kept.
  2. A tool is told by its label, its result not at all. What OpenCode itself added to a prompt is left out.
  3. The text is foreign: it leaves here as it was written, and whoever prints it cleans it.

Not here: who may ask (daemon/routes/peek.py), opening the database (database.py).
"""

import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.kit.safe_reading import NO_RAW, Reader
from headcount.agents.kit.transcripts import Said
from headcount.agents.opencode.database import opened, time_of
from headcount.agents.opencode.labels import label
from headcount.agents.spoken import spoken

MESSAGES_MOST = 100
PART_MOST = 64 * 1024  # a longer one is a result with its tool; it is passed over

MESSAGES = """SELECT id, time_created, json_extract(data, '$.role'), json_extract(data, '$.path.cwd') FROM message
    WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?"""
PARTS = "SELECT data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY id"
WHO = {"user": "user", "assistant": "agent"}


class State(msgspec.Struct, frozen=True):
    input: msgspec.Raw = NO_RAW


class Part(msgspec.Struct):
    type: Any = None
    text: Any = None
    tool: Any = None
    synthetic: Any = None
    ignored: Any = None
    state: State = State()


_parts = Reader(Part)


def peek(path: Path, conversation: str, lines: int) -> list[Said] | None:
    """The last so many; None: there is no such conversation to read."""
    said: list[Said] = []
    try:
        with opened(path) as database:
            messages = database.execute(MESSAGES, (conversation, MESSAGES_MOST)).fetchall()
            for id, created, role, cwd in messages:
                parts = database.execute(PARTS, (id, PART_MOST)).fetchall()
                said[:0] = [each for [data] in parts for each in _said(data, role, time_of(created), cwd)]
                if len(said) >= lines:
                    break
    except (sqlite3.Error, OSError):
        return None
    return said[-lines:] if messages else None


def _said(data: Any, role: Any, at: float | None, cwd: Any) -> list[Said]:
    part = _parts.read_or_empty(str(data).encode("utf-8", "replace"))
    if part.type == "tool" and isinstance(part.tool, str):
        return [Said("tool", label(part.tool, part.state.input, cwd), at)]
    who = WHO.get(role) if isinstance(role, str) else None
    if part.type != "text" or who is None or part.synthetic is True or part.ignored is True:
        return []
    return spoken(who, part.text, at)
