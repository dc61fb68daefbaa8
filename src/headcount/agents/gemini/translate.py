"""From a hook payload of Gemini CLI to a report.

Rules of this file
  1. Never raises. What names no conversation is Unread; every other payload is a report, also one whose
     event nobody knows: that one says nothing, and is still a sign of life.
  2. No prompt, no answer, no tool output leaves this file.
  3. The payload has the moment at which the CLI spoke; the file that held it was written later, by a shell. The
     earlier stands, so that hooks and transcript are ordered by one clock.

Not here: which events are registered (events.py), what follows from a report (core).
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents import lenient
from headcount.agents.gemini.events import EVENTS, FIELDS
from headcount.agents.gemini.labels import ToolInput, label
from headcount.agents.label import one_line, plain
from headcount.agents.lenient import NO_RAW, Reader, moment
from headcount.agents.port import Unread
from headcount.core.report import Anchor, Details, Opening, Report, Turn, WaitingOn

NAME = "gemini"

CONVERSATION = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}", re.ASCII)
EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}", re.ASCII)

OPENINGS = {"startup": Opening.STARTUP, "resume": Opening.RESUME, "clear": Opening.CLEAR}
ASKING_TOOLS = {"ask_user": WaitingOn.QUESTION, "exit_plan_mode": WaitingOn.PLAN}
EDITING_TOOLS = frozenset({"write_file", "replace"})
EDIT_EVENTS = frozenset({"BeforeTool", "AfterTool"})
PERMISSION = "ToolPermission"  # the one kind of Notification that 0.61.0 sends


class Payload(msgspec.Struct):
    hook_event_name: Any = None
    session_id: Any = None
    transcript_path: Any = None
    cwd: Any = None
    timestamp: Any = None
    source: Any = None
    reason: Any = None
    tool_name: Any = None
    notification_type: Any = None
    tool_input: msgspec.Raw = NO_RAW
    details: msgspec.Raw = NO_RAW


class Asked(msgspec.Struct):
    """What a permission is asked for: `details` of a Notification."""

    type: Any = None
    command: Any = None
    filePath: Any = None


class Said(msgspec.Struct, frozen=True):
    """What one event says, beside what all events carry."""

    turn: Turn | None = None
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    opening: Opening | None = None
    leaving: str | None = None


NOTHING = Said()
NO_ANCHOR = Anchor()  # the edge establishes it
_payload = Reader(Payload)
_input = Reader(ToolInput)
_asked = Reader(Asked)


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = _payload.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = read.session_id
    if not isinstance(conversation, str) or CONVERSATION.fullmatch(conversation) is None:
        return Unread("no usable session_id")
    event = read.hook_event_name
    if not isinstance(event, str) or EVENT_NAME.fullmatch(event) is None:
        event = "unnamed"
    said = SAYS[event](read) if event in SAYS else NOTHING
    told = moment(read.timestamp)
    return Report(
        agent=NAME,
        conversation=conversation,
        at=at if told is None else min(told, at),
        source=source,
        event=event,
        says=said.turn,
        waiting_on=said.waiting_on,
        doing=said.doing,
        opening=said.opening,
        leaving=said.leaving,
        edits=_edits(read) if event in EDIT_EVENTS else None,
        details=Details(cwd=_directory(read.cwd), transcript=_directory(read.transcript_path)),
        anchor=NO_ANCHOR,
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    """What the payload has that no table knows, for counting: `event:Name` first, then field names."""
    read = _payload.read(payload)
    if isinstance(read, str):
        return ()
    event = read.hook_event_name
    named = () if isinstance(event, str) and event in EVENTS else (f"event:{one_line(str(event), 40)}",)
    return named + tuple(sorted(one_line(key, 40) for key in set(lenient.keys(payload)) - FIELDS))[:8]


def _session_start(read: Payload) -> Said:
    source = read.source if isinstance(read.source, str) else ""
    return Said(Turn.STARTED, opening=OPENINGS.get(source, Opening.STARTUP))


def _before_agent(read: Payload) -> Said:
    return Said(Turn.PROMPTED)


def _after_agent(read: Payload) -> Said:
    return Said(Turn.STOPPED)


def _before_tool(read: Payload) -> Said:
    asks = ASKING_TOOLS.get(_tool(read))
    return Said(Turn.ASKED if asks else Turn.TOOL, waiting_on=asks, doing=_doing(read))


def _after_tool(read: Payload) -> Said:
    return Said(Turn.TOOL_DONE)


def _notification(read: Payload) -> Said:
    if read.notification_type != PERMISSION:
        return NOTHING
    asked = _asked.read_or_empty(read.details)
    kind = asked.type if isinstance(asked.type, str) else ""
    waiting_on = ASKING_TOOLS.get(kind, WaitingOn.PERMISSION)
    doing: str | None = None
    if kind == "exec":
        doing = label("run_shell_command", ToolInput(command=asked.command), None)
    elif kind == "edit":
        doing = label("replace", ToolInput(file_path=asked.filePath), _directory(read.cwd))
    elif kind in ASKING_TOOLS:
        doing = label(kind, ToolInput(), None)
    return Said(Turn.ASKED, waiting_on=waiting_on, doing=doing)


def _session_end(read: Payload) -> Said:
    return Said(leaving=one_line(read.reason, 40) if isinstance(read.reason, str) else "other")


SAYS: dict[str, Callable[[Payload], Said]] = {
    "SessionStart": _session_start,
    "BeforeAgent": _before_agent,
    "AfterAgent": _after_agent,
    "BeforeTool": _before_tool,
    "AfterTool": _after_tool,
    "Notification": _notification,
    "SessionEnd": _session_end,
}


def _doing(read: Payload) -> str | None:
    tool = _tool(read)
    return label(tool, _input.read_or_empty(read.tool_input), _directory(read.cwd)) if tool else None


def _edits(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    path = plain(_input.read_or_empty(read.tool_input).file_path)
    if path is None or path.startswith("/"):
        return path
    cwd = _directory(read.cwd)
    return f"{cwd.rstrip('/')}/{path}" if cwd else None


def _tool(read: Payload) -> str:
    return read.tool_name if isinstance(read.tool_name, str) else ""


def _directory(value: Any) -> str | None:
    path = plain(value)
    return path if path is not None and path.startswith("/") else None
