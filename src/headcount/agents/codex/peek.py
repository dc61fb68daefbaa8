"""The last lines of a Codex conversation as people read them: who said what, and which tools were used.

Rules of this file
  1. Only when a person asks, only the end of the rollout; nothing is kept.
  2. What was said is taken from `item_completed`, which is what the terminal shows: the items beside it also hold
     what Codex itself tells the model. A tool is told by its label, its result not at all.
  3. The text is foreign: it leaves here as it was written, and whoever prints it cleans it.

Not here: who may ask (daemon/routes/peek.py), what a session does (transcript.py).
"""

from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.codex.transcript import CALLS, is_of, item_of, label_of, line_of
from headcount.agents.fields import text_of
from headcount.agents.file_end import read_end
from headcount.agents.kit.safe_reading import Reader
from headcount.agents.kit.transcripts import Said
from headcount.agents.moment import moment_of
from headcount.agents.spoken import last_spoken, spoken

MOST = 512 * 1024
"""More than a glimpse takes: results of tools stand between what was said."""

WHO = {"UserMessage": "user", "AgentMessage": "agent"}


class Piece(msgspec.Struct):
    text: Any = None


class Completed(msgspec.Struct, frozen=True):
    type: Any = None
    content: tuple[Piece, ...] = ()


class Event(msgspec.Struct):
    type: Any = None
    item: Completed = Completed()


_event = Reader(Event)


def peek(path: Path, conversation: str, lines: int) -> list[Said] | None:
    """The last so many; None: there is no rollout to read."""
    end = read_end(path, MOST) if is_of(path, conversation) else None
    return None if end is None else last_spoken(end.content, lines, _said)


def _said(row: bytes) -> list[Said]:
    line = line_of(row)
    if line is None:
        return []
    item, at = item_of(line), moment_of(line.timestamp)
    if item is None:
        return []
    if line.type == "response_item" and text_of(item.type) in CALLS:
        return [Said("tool", label_of(item), at)]
    if line.type != "event_msg" or item.type != "item_completed":
        return []
    completed = _event.read_or_empty(line.payload).item
    who = WHO.get(completed.type) if isinstance(completed.type, str) else None
    return (
        [] if who is None else [each for piece in completed.content for each in spoken(who, piece.text, at)]
    )
