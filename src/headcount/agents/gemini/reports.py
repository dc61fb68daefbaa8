"""Gemini CLI's hook events: all of them in one table, and what each says in a report.

Rules
  1. Never raises. What names no conversation is Unread; every other payload is a report. An event that is not in the
     table says nothing, and is still a sign of life.
  2. No prompt, answer or tool output leaves this file. Of a tool's input only the one field in `BY_TOOL` is read; a tool
     that is not there shows its name only: "Shell: npm test", "Edit: src/app.ts".
  3. A payload carries the time at which the CLI wrote it; the file that holds it was written later, by a shell. The
     earlier time counts, so that hooks and transcript are ordered by one clock.
  4. Only events that observe, and are small, are installed.

Not here: installing (hooks.py), what follows from a report (core), cutting and redacting (agents/kit/labels.py).
"""

import msgspec

from headcount.agents.gemini import NAME
from headcount.agents.interface import Unread
from headcount.agents.kit import hook_events
from headcount.agents.kit.hook_events import (
    NOTHING,
    HookEvent,
    HookFields,
    HookTable,
    Payload,
    Use,
    event_of,
    left,
    report,
)
from headcount.agents.kit.labels import plain, tool_line, tool_path
from headcount.agents.kit.safe_reading import JsonReader, absolute, below, id_of, moment_of, text_of
from headcount.core.values.report import Details, Opening, Report, Turn, WaitingOn

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

OPENINGS = {"startup": Opening.STARTUP, "resume": Opening.RESUME, "clear": Opening.CLEAR}
ASKING_TOOLS = {"ask_user": WaitingOn.QUESTION, "exit_plan_mode": WaitingOn.PLAN}
EDITING_TOOLS = frozenset({"write_file", "replace"})
PERMISSION = "ToolPermission"  # the one kind of Notification that 0.61.0 sends


class GeminiToolInput(msgspec.Struct):
    """The fields that a label may show. `object`: what a field holds is not trusted."""

    command: object = None
    file_path: object = None
    dir_path: object = None
    pattern: object = None
    query: object = None
    agent_name: object = None


def label(tool: str, given: GeminiToolInput, cwd: str | None) -> str:
    shown, field = BY_TOOL.get(tool, (tool, ""))
    value = getattr(given, field) if field else None
    if field in PATHS:
        return tool_path(shown, value, cwd)
    return tool_line(shown, value)


class PermissionDetails(msgspec.Struct):
    """What the permission is for: `details` of a Notification."""

    type: object = None
    command: object = None
    filePath: object = None


class ToolOutcome(msgspec.Struct):
    """Whether a tool failed. Its output is not read."""

    error: object = None


_input = JsonReader(GeminiToolInput)
_asked = JsonReader(PermissionDetails)
_outcome = JsonReader(ToolOutcome)


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = hook_events.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read["session_id"])
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read["hook_event_name"])
    said = EVENTS.said(event, read)
    told = moment_of(read["timestamp"])
    when = at if told is None else min(told, at)
    details = Details(cwd=absolute(read["cwd"]), transcript=absolute(read["transcript_path"]))
    return report(NAME, conversation, when, source, event, said, details)


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = hook_events.read(payload)
    return () if isinstance(read, str) else EVENTS.unknown(read["hook_event_name"], read)


def _session_start(read: Payload) -> HookFields:
    return HookFields(Turn.STARTED, opening=OPENINGS.get(text_of(read["source"]), Opening.STARTUP))


def _before_tool(read: Payload) -> HookFields:
    asks = ASKING_TOOLS.get(_tool(read))
    turn = Turn.ASKED if asks else Turn.TOOL
    return HookFields(turn, waiting_on=asks, doing=_doing(read), would_edit=_file(read))


def _after_tool(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL_DONE, edits=None if _failed(read) else _file(read))


def _notification(read: Payload) -> HookFields:
    if read["notification_type"] != PERMISSION:
        return NOTHING
    asked = _asked.read_or_empty(read.raw("details"))
    kind = text_of(asked.type)
    waiting_on = ASKING_TOOLS.get(kind, WaitingOn.PERMISSION)
    doing: str | None = None
    if kind == "exec":
        doing = label("run_shell_command", GeminiToolInput(command=asked.command), None)
    elif kind == "edit":
        doing = label("replace", GeminiToolInput(file_path=asked.filePath), absolute(read["cwd"]))
    elif kind in ASKING_TOOLS:
        doing = label(kind, GeminiToolInput(), None)
    return HookFields(Turn.ASKED, waiting_on=waiting_on, doing=doing)


EVENTS = HookTable(
    "session_id transcript_path cwd hook_event_name timestamp",
    (
        HookEvent("SessionStart", Use.ALWAYS, "a conversation opens in a process: startup, resume, clear",
                  "source", _session_start),
        HookEvent("BeforeAgent", Use.ALWAYS, "a turn begins", "prompt", lambda read: HookFields(Turn.PROMPTED)),
        HookEvent("AfterAgent", Use.ALWAYS, "a turn ended; also after an error, which only the transcript shows",
                  "prompt prompt_response stop_hook_active", lambda read: HookFields(Turn.STOPPED)),
        HookEvent("SessionEnd", Use.ALWAYS, "the conversation leaves its process, and why",
                  "reason", lambda read: left(read["reason"])),
        HookEvent("BeforeTool", Use.LISTENING, "what it is doing now",
                  "tool_name tool_input mcp_context original_request_name", _before_tool),
        HookEvent("AfterTool", Use.LISTENING, "the tool ended; a permission asked for it was given",
                  "tool_name tool_input mcp_context original_request_name tool_response", _after_tool),
        HookEvent("Notification", Use.LISTENING, "it waits on its user; the dialog is on the screen",
                  "notification_type message details", _notification),
        HookEvent("PreCompress", Use.IGNORED, "comes before every request, whether anything is compressed or not",
                  "trigger"),
        HookEvent("BeforeModel", Use.IGNORED, "carries the whole conversation, and may replace the request",
                  "llm_request"),
        HookEvent("AfterModel", Use.IGNORED, "once for every piece of every answer, with the whole conversation",
                  "llm_request llm_response"),
        HookEvent("BeforeToolSelection", Use.IGNORED, "carries the whole conversation, and may change the tools",
                  "llm_request"),
    ),
)  # fmt: skip


def _doing(read: Payload) -> str | None:
    tool = _tool(read)
    return label(tool, _input.read_or_empty(read.raw("tool_input")), absolute(read["cwd"])) if tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    return below(read["cwd"], plain(_input.read_or_empty(read.raw("tool_input")).file_path))


def _failed(read: Payload) -> bool:
    """Whether the tool failed. AfterTool also follows a failed tool, but not a denied one."""
    return _outcome.read_or_empty(read.raw("tool_response")).error is not None


def _tool(read: Payload) -> str:
    return text_of(read["tool_name"])
