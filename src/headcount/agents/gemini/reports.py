"""From a hook payload of Gemini CLI to a report.

What a tool call of Gemini CLI is called: "Shell: npm test", "Edit: src/app.ts".

Rules
  1. Never raises. What names no conversation is Unread; every other payload is a report, also one whose event
     nobody knows: that one says nothing, and is still a sign of life.
  2. No prompt, no answer, no tool output leaves this file.
  3. The payload has the moment at which the CLI spoke; the file that held it was written later, by a shell.
     The earlier stands, so that hooks and transcript are ordered by one clock.
  4. A tool that is not in the table shows its name only: nobody knows what its input holds.
  5. Of an input only the one field in the table is read: no content, no prompt.

Not here: which events are registered (hooks.py), what follows from a report (core); cutting and redacting
  (agents/kit/labels.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.gemini import NAME
from headcount.agents.gemini.hooks import EVENTS, FIELDS
from headcount.agents.interface import Unread
from headcount.agents.kit.hook_events import NOTHING, Said, event_of, left, report, unknown
from headcount.agents.kit.labels import plain, tool_line, tool_path
from headcount.agents.kit.safe_reading import NO_RAW, Reader, absolute, below, id_of, moment_of, text_of
from headcount.core.values.report import Details, Opening, Report, Turn, WaitingOn


class ToolInput(msgspec.Struct):
    """The fields that a label may show. `Any`: what a field holds is not trusted."""

    command: Any = None
    file_path: Any = None
    dir_path: Any = None
    pattern: Any = None
    query: Any = None
    agent_name: Any = None


BY_TOOL: dict[str, tuple[str, str]] = {
    "run_shell_command": ("Shell", "command"),
    "read_file": ("ReadFile", "file_path"),
    "write_file": ("WriteFile", "file_path"),
    "replace": ("Edit", "file_path"),
    "list_directory": ("ReadFolder", "dir_path"),
    "glob": ("FindFiles", "pattern"),
    "grep_search": ("SearchText", "pattern"),
    "google_web_search": ("GoogleSearch", "query"),
    "invoke_agent": ("Agent", "agent_name"),
    "web_fetch": ("WebFetch", ""),
    "ask_user": ("question", ""),
    "exit_plan_mode": ("plan to approve", ""),
}
PATHS = frozenset({"file_path", "dir_path"})


def label(tool: str, given: ToolInput, cwd: str | None) -> str:
    shown, field = BY_TOOL.get(tool, (tool, ""))
    value = getattr(given, field) if field else None
    if field in PATHS:
        return tool_path(shown, value, cwd)
    return tool_line(shown, value)


OPENINGS = {"startup": Opening.STARTUP, "resume": Opening.RESUME, "clear": Opening.CLEAR}
ASKING_TOOLS = {"ask_user": WaitingOn.QUESTION, "exit_plan_mode": WaitingOn.PLAN}
EDITING_TOOLS = frozenset({"write_file", "replace"})
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
    tool_response: msgspec.Raw = NO_RAW
    details: msgspec.Raw = NO_RAW


class Asked(msgspec.Struct):
    """What a permission is asked for: `details` of a Notification."""

    type: Any = None
    command: Any = None
    filePath: Any = None


class Outcome(msgspec.Struct):
    """Of a tool: whether it failed. What it put out is not read."""

    error: Any = None


_payload = Reader(Payload)
_input = Reader(ToolInput)
_asked = Reader(Asked)
_outcome = Reader(Outcome)


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = _payload.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read.session_id)
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read.hook_event_name)
    said = SAYS[event](read) if event in SAYS else NOTHING
    told = moment_of(read.timestamp)
    when = at if told is None else min(told, at)
    details = Details(cwd=absolute(read.cwd), transcript=absolute(read.transcript_path))
    edits = _file(read) if event == "AfterTool" and not _failed(read) else None
    would_edit = _file(read) if event == "BeforeTool" else None
    return report(NAME, conversation, when, source, event, said, details, edits=edits, would_edit=would_edit)


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = _payload.read(payload)
    return () if isinstance(read, str) else unknown(read.hook_event_name, payload, EVENTS, FIELDS)


def _session_start(read: Payload) -> Said:
    return Said(Turn.STARTED, opening=OPENINGS.get(text_of(read.source), Opening.STARTUP))


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
    kind = text_of(asked.type)
    waiting_on = ASKING_TOOLS.get(kind, WaitingOn.PERMISSION)
    doing: str | None = None
    if kind == "exec":
        doing = label("run_shell_command", ToolInput(command=asked.command), None)
    elif kind == "edit":
        doing = label("replace", ToolInput(file_path=asked.filePath), absolute(read.cwd))
    elif kind in ASKING_TOOLS:
        doing = label(kind, ToolInput(), None)
    return Said(Turn.ASKED, waiting_on=waiting_on, doing=doing)


def _session_end(read: Payload) -> Said:
    return left(read.reason)


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
    return label(tool, _input.read_or_empty(read.tool_input), absolute(read.cwd)) if tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    return below(read.cwd, plain(_input.read_or_empty(read.tool_input).file_path))


def _failed(read: Payload) -> bool:
    """AfterTool comes after a tool that failed too; one that was denied has none."""
    return _outcome.read_or_empty(read.tool_response).error is not None


def _tool(read: Payload) -> str:
    return text_of(read.tool_name)
