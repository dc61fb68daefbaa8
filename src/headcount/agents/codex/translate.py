"""From a hook payload of Codex to a report.

Rules of this file
  1. Never raises. What names no conversation is Unread; every other payload is a report.
  2. No prompt, no answer, no tool output leaves this file.
  3. Every report says `beside`: Codex's app server has the conversations of all terminals open at once.

The payloads have the shape of Claude Code's, so they are read by the same reader. Not here: which events are
registered (events.py), the rollout (rollout.py).
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.claude_code import payload as reading
from headcount.agents.claude_code.labels import label
from headcount.agents.claude_code.payload import Payload
from headcount.agents.codex.events import EVENTS, FIELDS
from headcount.agents.label import one_line, plain
from headcount.agents.port import Unread
from headcount.core.report import Background, Details, Opening, Report, Turn, WaitingOn

NAME = "codex"

THREAD = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}", re.ASCII)

OPENINGS = {
    "startup": Opening.STARTUP,
    "resume": Opening.RESUME,
    "clear": Opening.CLEAR,
    "fork": Opening.FORK,
}


class Said(msgspec.Struct, frozen=True):
    """What one event says, beside what all events carry."""

    turn: Turn | None = None
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    opening: Opening | None = None
    leaving: str | None = None
    started: Background | None = None
    ended: str | None = None


NOTHING = Said()


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = reading.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = read.session_id
    if not isinstance(conversation, str) or THREAD.fullmatch(conversation) is None:
        return Unread("no usable session_id")
    event = read.hook_event_name
    if not isinstance(event, str) or EVENT_NAME.fullmatch(event) is None:
        event = "unnamed"
    said = SAYS[event](read) if event in SAYS else NOTHING
    return Report(
        agent=NAME,
        conversation=conversation,
        at=at,
        source=source,
        event=event,
        says=said.turn,
        waiting_on=said.waiting_on,
        doing=said.doing,
        opening=said.opening,
        leaving=said.leaving,
        subagent=_id(read.agent_id),
        background_started=said.started,
        background_ended=said.ended,
        beside=True,
        details=Details(
            cwd=_path(read.cwd),
            model=plain(read.model, 100),
            transcript=_path(read.transcript_path),
            permission_mode=plain(read.permission_mode, 40),
        ),
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    """What the payload has that no table knows, for counting: `event:Name` first, then field names."""
    read = reading.read(payload)
    if isinstance(read, str):
        return ()
    event = read.hook_event_name
    known = isinstance(event, str) and event in EVENTS
    named = () if known else (f"event:{one_line(str(event), 40)}",)
    return named + tuple(sorted(one_line(key, 40) for key in set(reading.keys(payload)) - FIELDS))[:8]


def _session_start(read: Payload) -> Said:
    source = read.source if isinstance(read.source, str) else ""
    if source == "compact":  # the same conversation, shorter: nothing opened
        return Said(Turn.COMPACTED)
    return Said(Turn.STARTED, opening=OPENINGS.get(source, Opening.STARTUP))


def _before_tool(read: Payload) -> Said:
    return Said(Turn.TOOL, doing=_doing(read))


def _permission(read: Payload) -> Said:
    return Said(Turn.ASKED, WaitingOn.PERMISSION, _doing(read))


def _session_end(read: Payload) -> Said:
    return Said(leaving=one_line(read.reason, 40) if isinstance(read.reason, str) else "other")


def _subagent_start(read: Payload) -> Said:
    subagent = _id(read.agent_id)
    if subagent is None:
        return NOTHING
    kind = read.agent_type if isinstance(read.agent_type, str) else ""
    return Said(started=Background(subagent, "subagent", one_line(kind)))


def _subagent_stop(read: Payload) -> Said:
    return Said(ended=_id(read.agent_id))


def _after_compact(read: Payload) -> Said:
    return Said(Turn.SETTLED if read.trigger == "manual" else Turn.COMPACTED)


SAYS: dict[str, Callable[[Payload], Said]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": lambda read: Said(Turn.PROMPTED),
    "Stop": lambda read: Said(Turn.STOPPED),
    "Interrupt": lambda read: Said(Turn.SETTLED),
    "SessionEnd": _session_end,
    "PreToolUse": _before_tool,
    "PostToolUse": lambda read: Said(Turn.TOOL_DONE),
    "PermissionRequest": _permission,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "PreCompact": lambda read: Said(Turn.COMPACTING, doing="compacting"),
    "PostCompact": _after_compact,
}


def _doing(read: Payload) -> str | None:
    tool = read.tool_name if isinstance(read.tool_name, str) else ""
    return label(tool, reading.tool_input(read), _path(read.cwd)) if tool else None


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and THREAD.fullmatch(value) else None


def _path(value: Any) -> str | None:
    path = plain(value)
    return path if path is not None and path.startswith("/") else None
