"""From a hook payload of Claude Code to a report.

Rules of this file
  1. Never raises. What names no conversation is Unread; every other payload is a report, also one whose
     event nobody knows: that one says nothing, and is still a sign of life.
  2. No prompt, no answer, no tool output leaves this file.
  3. A dialog inside a subagent waits on the user all the same: it says ASKED and names the subagent. What
     else happens in a subagent is told with the subagent's name, for the core to keep apart (S1).
  4. Notifications say nothing here: they come seconds late, and `permission_prompt` is also sent for a
     question and for a plan, so that it would say less than what is known (S4; traces question-noticed, plan).

Not here: which events are registered (events.py), what follows from a report (core).
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.claude_code import payload as reading
from headcount.agents.claude_code.events import EVENTS, FIELDS
from headcount.agents.claude_code.labels import label
from headcount.agents.claude_code.payload import Payload, Task
from headcount.agents.label import one_line, plain, redacted
from headcount.agents.lenient import word
from headcount.agents.port import Unread
from headcount.core.report import Anchor, Background, Details, Opening, Report, Turn, WaitingOn

NAME = "claude-code"

CONVERSATION = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}", re.ASCII)
"""Ids reach command lines and must never look like an option or a path (I8, K10)."""

EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}", re.ASCII)

OPENINGS = {
    "startup": Opening.STARTUP,
    "resume": Opening.RESUME,
    "clear": Opening.CLEAR,
    "fork": Opening.FORK,
}

ASKING_TOOLS = {"AskUserQuestion": WaitingOn.QUESTION, "ExitPlanMode": WaitingOn.PLAN}
"""Tools that do nothing but ask the user."""

LIMITS = frozenset({"rate_limit", "usage_limit", "usage_limit_reached", "billing_error", "credits_required"})
"""Errors of StopFailure that mean: not now, whatever one asks."""

OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled", "canceled", "done"})
"""Statuses of a background task that does not run any more."""

EDITING_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
EDIT_EVENTS = frozenset({"PreToolUse", "PostToolUse"})
PATH_MOST = 4_096
PROMPT_NAME = re.compile(r"\(Branch(?: [0-9]+)?\)\Z|\A⑂")

RESETS = re.compile(r"\bresets?\b[^.\n·|]{1,40}")


class Said(msgspec.Struct, frozen=True):
    """What one event says, beside what all events carry. A Struct, since one is made for every event."""

    turn: Turn | None = None
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None
    opening: Opening | None = None
    leaving: str | None = None
    background: tuple[Background, ...] | None = None
    started: Background | None = None
    ended: str | None = None
    name: str | None = None
    model: str | None = None


NOTHING = Said()
NO_ANCHOR = Anchor()  # the edge establishes it


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = reading.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = read.session_id
    if not isinstance(conversation, str) or CONVERSATION.fullmatch(conversation) is None:
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
        failure=said.failure,
        opening=said.opening,
        leaving=said.leaving,
        subagent=_id(read.agent_id),
        background=said.background,
        background_started=said.started,
        background_ended=said.ended,
        edits=_edits(read) if event in EDIT_EVENTS else None,
        details=Details(
            cwd=_directory(read.cwd),
            name=said.name,
            model=said.model,
            transcript=_directory(read.transcript_path),
            permission_mode=plain(read.permission_mode, 40),
        ),
        anchor=NO_ANCHOR,
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
    name, model = name_of(read.session_title), plain(read.model, 100)
    if read.source == "compact":  # the same conversation, shorter: nothing opened
        return Said(Turn.COMPACTED, name=name, model=model)
    source = read.source if isinstance(read.source, str) else ""
    return Said(Turn.STARTED, opening=OPENINGS.get(source, Opening.STARTUP), name=name, model=model)


def _prompt(read: Payload) -> Said:
    return Said(Turn.PROMPTED, name=name_of(read.session_title))


def _before_tool(read: Payload) -> Said:
    tool = _tool(read)
    turn = Turn.ASKED if tool in ASKING_TOOLS else Turn.TOOL
    return Said(turn, waiting_on=ASKING_TOOLS.get(tool), doing=_doing(read))


def _after_tool(read: Payload) -> Said:
    return Said(Turn.TOOL_DONE)


def _after_failed_tool(read: Payload) -> Said:
    """A tool that its user interrupted ended the turn with it."""
    return Said(Turn.SETTLED if read.is_interrupt is True else Turn.TOOL_DONE)


def _permission(read: Payload) -> Said:
    return Said(
        Turn.ASKED, waiting_on=ASKING_TOOLS.get(_tool(read), WaitingOn.PERMISSION), doing=_doing(read)
    )


def _elicitation(read: Payload) -> Said:
    server = one_line(read.mcp_server_name, 40) if isinstance(read.mcp_server_name, str) else "a tool server"
    return Said(Turn.ASKED, waiting_on=WaitingOn.QUESTION, doing=f"{server} asks")


def _stop(read: Payload) -> Said:
    return Said(Turn.STOPPED, background=_background(read, ended=None))


def _stop_failure(read: Payload) -> Said:
    error = read.error if isinstance(read.error, str) else "unknown"
    if error not in LIMITS:
        return Said(Turn.FAILED, failure="error", doing=one_line(error.replace("_", " ")))
    text = read.last_assistant_message
    when = RESETS.search(text) if isinstance(text, str) else None
    return Said(Turn.FAILED, failure="limit", doing=one_line(when.group(0)) if when else None)


def _session_end(read: Payload) -> Said:
    return Said(leaving=one_line(read.reason, 40) if isinstance(read.reason, str) else "other")


def _subagent_start(read: Payload) -> Said:
    subagent = _id(read.agent_id)
    if subagent is None:
        return NOTHING
    kind = read.agent_type if isinstance(read.agent_type, str) else ""
    return Said(started=Background(subagent, "subagent", one_line(kind)))


def _subagent_stop(read: Payload) -> Said:
    subagent = _id(read.agent_id)
    return Said(ended=subagent, background=_background(read, ended=subagent))


def _before_compact(read: Payload) -> Said:
    return Said(Turn.COMPACTING, doing="compacting")


def _after_compact(read: Payload) -> Said:
    """`/compact` was the turn, and it is over; an automatic one stands inside a turn that goes on."""
    return Said(Turn.SETTLED if read.trigger == "manual" else Turn.COMPACTED)


SAYS: dict[str, Callable[[Payload], Said]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SessionEnd": _session_end,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _after_failed_tool,
    "PermissionRequest": _permission,
    "PermissionDenied": _after_tool,
    "Elicitation": _elicitation,
    "ElicitationResult": _after_tool,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "PreCompact": _before_compact,
    "PostCompact": _after_compact,
}


def _doing(read: Payload) -> str | None:
    tool = _tool(read)
    return label(tool, reading.tool_input(read), _directory(read.cwd)) if tool else None


def _edits(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    given = reading.tool_input(read)
    path = plain(given.file_path if isinstance(given.file_path, str) else given.notebook_path, PATH_MOST)
    if path is None or path.startswith("/"):
        return path
    cwd = _directory(read.cwd)
    return f"{cwd.rstrip('/')}/{path}" if cwd and path else None


def _tool(read: Payload) -> str:
    return read.tool_name if isinstance(read.tool_name, str) else ""


def _background(read: Payload, ended: str | None) -> tuple[Background, ...] | None:
    """The whole list, without the one that just ended: its own SubagentStop still calls it running."""
    tasks = reading.tasks(read)
    if tasks is None:
        return None
    running = (_task(task) for task in tasks[:100] if word(task.status) not in OVER)
    return tuple(task for task in running if task is not None and task.id != ended)


def _task(task: Task) -> Background | None:
    id = _id(task.id)
    if id is None:
        return None
    kind = one_line(task.type, 20) if isinstance(task.type, str) else "task"
    text = next(
        (t for t in (task.description, task.command, task.agent_type) if isinstance(t, str) and t), ""
    )
    return Background(id, kind, one_line(redacted(text)))


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and CONVERSATION.fullmatch(value) else None


def name_of(value: Any) -> str | None:
    """The session's name. A branch or a fork is called by its prompt, and prompts are not kept."""
    if not isinstance(value, str) or PROMPT_NAME.search(value):
        return None
    return one_line(value) or None


def _directory(value: Any) -> str | None:
    path = plain(value)
    return path if path is not None and path.startswith("/") else None
