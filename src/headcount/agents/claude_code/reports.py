"""From a hook payload of Claude Code to a report.

Rules of this file
  1. Never raises. What names no conversation is Unread; every other payload is a report, also one whose
     event nobody knows: that one says nothing, and is still a sign of life.
  2. No prompt, no answer, no tool output leaves this file.
  3. A dialog inside a subagent waits on the user all the same: it says ASKED and names the subagent. What
     else happens in a subagent is told with the subagent's name, for the core to keep apart (S1).
  4. Notifications say nothing here: they come seconds late, and `permission_prompt` is also sent for a
     question and for a plan, so that it would say less than what is known (S4; traces question-noticed, plan).
  5. An edit was made when PostToolUse says so: one that a guard or its user denied, or that failed, has none.
  6. A name is taken only where somebody gave it: `session_title` is the CLI's custom title (`-n`, `/rename`, or a
     title that a hook of the user's sets). Titles that the CLI makes from a prompt are refused (decision 0088).

Not here: which events are registered (hooks.py), what follows from a report (core).
"""

import re
from collections.abc import Callable
from typing import Any

from headcount.agents.claude_code import NAME
from headcount.agents.claude_code.hooks import EDITING_TOOLS, EVENTS, FIELDS
from headcount.agents.claude_code.registry import name_of
from headcount.agents.interface import Unread
from headcount.agents.kit import claude_style_payload as reading
from headcount.agents.kit.claude_style_payload import Payload, Task, label
from headcount.agents.kit.hook_events import (
    NOTHING,
    OPENINGS,
    Said,
    code_in_words,
    event_of,
    left,
    report,
    subagent_began,
    unknown,
)
from headcount.agents.kit.labels import one_line, plain, redacted
from headcount.agents.kit.safe_reading import absolute, below, id_of, text_of
from headcount.core.values.report import Background, Details, Opening, Report, Turn, WaitingOn, bare_id

ASKING_TOOLS = {"AskUserQuestion": WaitingOn.QUESTION, "ExitPlanMode": WaitingOn.PLAN}
"""Tools that do nothing but ask the user."""

LIMITS = frozenset({"rate_limit", "usage_limit", "usage_limit_reached", "billing_error", "credits_required"})
"""Errors of StopFailure that mean: not now, whatever one asks."""

OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled", "canceled", "done"})
"""Statuses of a background task that does not run any more."""

PATH_MOST = 4_096

RESETS = re.compile(
    r"\bresets?(?:,? (?:at|on|in|[0-9][0-9:]{0,4}(?:am|pm)?|am|pm|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul"
    r"|Aug|Sep|Oct|Nov|Dec|\((?:[A-Z]{2,5}|[A-Z][A-Za-z_]{1,20}/[A-Z][A-Za-z_/]{1,30})\)))+"
)
"""The time in the CLI's notice of a limit, and no other words of that message."""


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = reading.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read.session_id)
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read.hook_event_name)
    said = SAYS[event](read) if event in SAYS else NOTHING
    details = Details(
        cwd=absolute(read.cwd),
        name=said.name,
        model=said.model,
        transcript=absolute(read.transcript_path),
        permission_mode=plain(read.permission_mode, 40),
    )
    return report(
        NAME,
        conversation,
        at,
        source,
        event,
        said,
        details,
        subagent=subagent_of(read.agent_id),
        edits=_file(read) if event == "PostToolUse" else None,
        would_edit=_file(read) if event == "PreToolUse" else None,
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = reading.read(payload)
    return () if isinstance(read, str) else unknown(read.hook_event_name, payload, EVENTS, FIELDS)


def _session_start(read: Payload) -> Said:
    name, model = name_of(read.session_title), plain(read.model, 100)
    if read.source == "compact":  # the same conversation, shorter: nothing opened
        return Said(Turn.COMPACTED, name=name, model=model)
    opening = OPENINGS.get(text_of(read.source), Opening.STARTUP)
    return Said(Turn.STARTED, opening=opening, name=name, model=model)


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
        return Said(Turn.FAILED, failure="error", doing=code_in_words(error))
    text = read.last_assistant_message
    when = RESETS.search(text) if isinstance(text, str) else None
    return Said(Turn.FAILED, failure="limit", doing=one_line(when.group(0)) if when else None)


def _session_end(read: Payload) -> Said:
    return left(read.reason)


def _subagent_start(read: Payload) -> Said:
    return subagent_began(subagent_of(read.agent_id), read.agent_type)


def _subagent_stop(read: Payload) -> Said:
    subagent = subagent_of(read.agent_id)
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
    return label(tool, reading.tool_input(read), absolute(read.cwd)) if tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    given = reading.tool_input(read)
    path = plain(given.file_path if isinstance(given.file_path, str) else given.notebook_path, PATH_MOST)
    return below(read.cwd, path)


def _tool(read: Payload) -> str:
    return text_of(read.tool_name)


def _background(read: Payload, ended: str | None) -> tuple[Background, ...] | None:
    """The whole list, without the one that just ended: its own SubagentStop still calls it running."""
    tasks = reading.tasks(read)
    if tasks is None:
        return None
    running = (_task(task) for task in tasks[:100] if text_of(task.status) not in OVER)
    return tuple(task for task in running if task is not None and task.id != ended)


def _task(task: Task) -> Background | None:
    id = subagent_of(task.id)
    if id is None:
        return None
    kind = one_line(task.type, 20) if isinstance(task.type, str) else "task"
    # Only a shell is told by its description: that of a subagent may be its prompt.
    told = (task.description, task.command) if kind == "shell" else (task.agent_type,)
    text = next((each for each in told if isinstance(each, str) and each), "")
    return Background(id, kind, one_line(redacted(text)))


def subagent_of(value: Any) -> str | None:
    id = id_of(value)
    return None if id is None else bare_id(id)
