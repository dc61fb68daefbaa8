"""Claude Code's hook events: all of them in one table, and what each says in a report.

Rules
  1. Never raises. What names no conversation is Unread; every other payload is a report. An event that is not in the
     table says nothing, and is still a sign of life.
  2. No prompt, answer or tool output leaves this file.
  3. A dialog inside a subagent also waits for the user: it is reported as ASKED with the subagent's name. Everything
     else in a subagent is reported under the subagent's name, so that the core can keep it apart (S1).
  4. Notifications are ignored: they arrive seconds late, and `permission_prompt` is also sent for a question or a
     plan, so it says less than other events do (S4; traces question-noticed, plan).
  5. An edit was made when PostToolUse says so: one that failed, or that a guard or the user denied, has none.
  6. A name is taken only if a user gave it: `session_title` is the CLI's custom title (`-n`, `/rename`, or a title
     set by a user's hook). Titles that the CLI makes from a prompt are refused, because prompts are not stored (G11).
  7. Only events that observe are installed, never one that *replaces* what the agent does (accident H6).

Not here: installing (hooks.py), reading a payload (agents/kit/hook_events.py), what follows from a report (core).
"""

import re

from headcount.agents.claude_code import NAME
from headcount.agents.claude_code.registry import name_of
from headcount.agents.interface import Unread
from headcount.agents.kit import hook_events
from headcount.agents.kit.claude_style_payload import Task, label, tasks, tool_input
from headcount.agents.kit.hook_events import (
    OPENINGS,
    HookEvent,
    HookFields,
    HookTable,
    Payload,
    Use,
    code_in_words,
    event_of,
    left,
    report,
    subagent_began,
)
from headcount.agents.kit.labels import one_line, plain, redacted
from headcount.agents.kit.safe_reading import absolute, below, id_of, text_of
from headcount.core.values.report import Background, Details, Opening, Report, Turn, WaitingOn, bare_id

ASKING_TOOLS = {"AskUserQuestion": WaitingOn.QUESTION, "ExitPlanMode": WaitingOn.PLAN}
"""Tools that do nothing but ask the user."""

LIMITS = frozenset({"rate_limit", "usage_limit", "usage_limit_reached", "billing_error", "credits_required"})
"""Errors of StopFailure that mean a limit: no request succeeds until it resets."""

OVER = frozenset({"completed", "failed", "killed", "stopped", "cancelled", "canceled", "done"})
"""Statuses of a background task that no longer runs."""

EDITING_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")

PATH_MOST = 4_096

_SWITCH = (
    "source from_model to_model requested_model context_tokens prompt_cache_warm cache_ttl"
    " estimated_cache_write_usd pricing"
)
_TASK = "task_id task_subject task_description teammate_name team_name"

RESETS = re.compile(
    r"\bresets?(?:,? (?:at|on|in|[0-9][0-9:]{0,4}(?:am|pm)?|am|pm|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul"
    r"|Aug|Sep|Oct|Nov|Dec|\((?:[A-Z]{2,5}|[A-Z][A-Za-z_]{1,20}/[A-Z][A-Za-z_/]{1,30})\)))+"
)
"""The reset time in the CLI's limit notice; nothing else of that message is kept."""


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = hook_events.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read["session_id"])
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read["hook_event_name"])
    said = EVENTS.said(event, read)
    details = Details(
        cwd=absolute(read["cwd"]),
        name=said.name,
        model=said.model,
        transcript=absolute(read["transcript_path"]),
        permission_mode=plain(read["permission_mode"], 40),
    )
    subagent = subagent_of(read["agent_id"])
    return report(NAME, conversation, at, source, event, said, details, subagent=subagent)


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = hook_events.read(payload)
    return () if isinstance(read, str) else EVENTS.unknown(read["hook_event_name"], read)


def _session_start(read: Payload) -> HookFields:
    name, model = name_of(read["session_title"]), plain(read["model"], 100)
    if read["source"] == "compact":  # a compaction: the same conversation continues, none was opened
        return HookFields(Turn.COMPACTED, name=name, model=model)
    opening = OPENINGS.get(text_of(read["source"]), Opening.STARTUP)
    return HookFields(Turn.STARTED, opening=opening, name=name, model=model)


def _prompt(read: Payload) -> HookFields:
    return HookFields(Turn.PROMPTED, name=name_of(read["session_title"]))


def _before_tool(read: Payload) -> HookFields:
    tool = _tool(read)
    turn = Turn.ASKED if tool in ASKING_TOOLS else Turn.TOOL
    return HookFields(turn, waiting_on=ASKING_TOOLS.get(tool), doing=_doing(read), would_edit=_file(read))


def _after_tool(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL_DONE, edits=_file(read))


def _goes_on(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL_DONE)


def _after_failed_tool(read: Payload) -> HookFields:
    """If the user interrupted the tool, the turn ended with it."""
    return HookFields(Turn.SETTLED if read["is_interrupt"] is True else Turn.TOOL_DONE)


def _permission(read: Payload) -> HookFields:
    return HookFields(
        Turn.ASKED, waiting_on=ASKING_TOOLS.get(_tool(read), WaitingOn.PERMISSION), doing=_doing(read)
    )


def _elicitation(read: Payload) -> HookFields:
    name = read["mcp_server_name"]
    server = one_line(name, 40) if isinstance(name, str) else "a tool server"
    return HookFields(Turn.ASKED, waiting_on=WaitingOn.QUESTION, doing=f"{server} asks")


def _stop(read: Payload) -> HookFields:
    return HookFields(Turn.STOPPED, background=_background(read, ended=None))


def _stop_failure(read: Payload) -> HookFields:
    error = read["error"] if isinstance(read["error"], str) else "unknown"
    if error not in LIMITS:
        return HookFields(Turn.FAILED, failure="error", doing=code_in_words(error))
    text = read["last_assistant_message"]
    when = RESETS.search(text) if isinstance(text, str) else None
    return HookFields(Turn.FAILED, failure="limit", doing=one_line(when.group(0)) if when else None)


def _session_end(read: Payload) -> HookFields:
    return left(read["reason"])


def _subagent_start(read: Payload) -> HookFields:
    return subagent_began(subagent_of(read["agent_id"]), read["agent_type"])


def _subagent_stop(read: Payload) -> HookFields:
    subagent = subagent_of(read["agent_id"])
    return HookFields(ended=subagent, background=_background(read, ended=subagent))


def _before_compact(read: Payload) -> HookFields:
    return HookFields(Turn.COMPACTING, doing="compacting")


def _after_compact(read: Payload) -> HookFields:
    """A manual `/compact` was the whole turn, now over. An automatic one happens inside a turn that continues."""
    return HookFields(Turn.SETTLED if read["trigger"] == "manual" else Turn.COMPACTED)


EVENTS = HookTable(
    "session_id transcript_path cwd hook_event_name prompt_id permission_mode effort agent_id agent_type",
    (
        HookEvent("SessionStart", Use.ALWAYS,
                  "a conversation opens in a process: startup, resume, clear, fork, compact",
                  "source model session_title seconds_since_last_response context_tokens"
                  " prompt_cache_likely_expired estimated_cache_write_usd", _session_start),
        HookEvent("UserPromptSubmit", Use.ALWAYS, "a turn begins", "prompt session_title", _prompt),
        HookEvent("Stop", Use.ALWAYS, "a turn ended, with what still runs in the background",
                  "stop_hook_active last_assistant_message background_tasks session_crons", _stop),
        HookEvent("StopFailure", Use.ALWAYS, "a turn ended by an error or a limit; comes instead of Stop",
                  "error error_details last_assistant_message", _stop_failure),
        HookEvent("SessionEnd", Use.ALWAYS, "the conversation leaves its process, and why", "reason", _session_end),
        HookEvent("PreToolUse", Use.LISTENING, "what it is doing now",
                  "tool_name tool_input tool_use_id mcp_server", _before_tool),
        HookEvent("PostToolUse", Use.LISTENING, "the tool ended; a permission asked for it was given",
                  "tool_name tool_input tool_use_id mcp_server tool_response duration_ms", _after_tool),
        HookEvent("PostToolUseFailure", Use.LISTENING, "the tool ended by failing",
                  "tool_name tool_input tool_use_id mcp_server error is_interrupt duration_ms", _after_failed_tool),
        HookEvent("PermissionRequest", Use.LISTENING, "it waits on its user, seconds before the Notification (S4)",
                  "tool_name tool_input permission_suggestions", _permission),
        HookEvent("PermissionDenied", Use.LISTENING, "auto mode refused the tool: it waits no more",
                  "tool_name tool_input tool_use_id reason", _goes_on),
        HookEvent("Elicitation", Use.LISTENING, "a tool server asks the user",
                  "mcp_server_name message mode requested_schema elicitation_id url", _elicitation),
        HookEvent("ElicitationResult", Use.LISTENING, "the user answered the tool server",
                  "mcp_server_name mode action content elicitation_id", _goes_on),
        HookEvent("SubagentStart", Use.LISTENING, "work beside the main turn began", "", _subagent_start),
        HookEvent("SubagentStop", Use.LISTENING, "work beside the main turn ended",
                  "stop_hook_active last_assistant_message background_tasks session_crons agent_transcript_path",
                  _subagent_stop),
        HookEvent("PreCompact", Use.LISTENING, "a compaction runs (S2)",
                  "trigger custom_instructions", _before_compact),
        HookEvent("PostCompact", Use.LISTENING, "the compaction is over", "trigger compact_summary", _after_compact),
        HookEvent("Notification", Use.IGNORED, "seconds late (S4), and `permission_prompt` also for questions and plans",
                  "message title notification_type"),
        HookEvent("PostToolBatch", Use.IGNORED, "repeats its tools with all their output; says nothing new",
                  "tool_calls"),
        HookEvent("UserPromptExpansion", Use.IGNORED, "UserPromptSubmit follows when it becomes a turn",
                  "prompt expansion_type command_name command_args command_source"),
        HookEvent("PreModelSwitch", Use.IGNORED, "may still be refused", _SWITCH, since="2.1.325"),
        HookEvent("PostModelSwitch", Use.IGNORED, "the transcript names the model", _SWITCH, since="2.1.325"),
        HookEvent("Setup", Use.IGNORED, "runs before there is a session to see", "trigger"),
        HookEvent("TeammateIdle", Use.IGNORED, "a teammate is a process with hooks of its own",
                  "teammate_name team_name"),
        HookEvent("TaskCreated", Use.IGNORED, "an item of a to-do list, not work that runs", _TASK),
        HookEvent("TaskCompleted", Use.IGNORED, "an item of a to-do list, not work that ran", _TASK),
        HookEvent("ConfigChange", Use.IGNORED, "may hold a change back; says nothing of activity", "source file_path"),
        HookEvent("InstructionsLoaded", Use.IGNORED, "says nothing of activity",
                  "file_path memory_type load_reason globs trigger_file_path parent_file_path"),
        HookEvent("CwdChanged", Use.IGNORED, "every observed event carries the directory", "old_cwd new_cwd"),
        HookEvent("FileChanged", Use.IGNORED, "makes the agent watch files for us", "file_path event"),
        HookEvent("DirectoryAdded", Use.IGNORED, "says nothing of activity", "directory source", since="2.1.325"),
        HookEvent("MessageDisplay", Use.IGNORED, "once for every few lines of every answer",
                  "turn_id message_id index final delta"),
        HookEvent("WorktreeCreate", Use.NEVER,
                  "a hook on it replaces git's own creation and breaks all worktrees (H6)", "name"),
        HookEvent("WorktreeRemove", Use.NEVER, "the other half of the WorktreeCreate replacement", "worktree_path"),
    ),
)  # fmt: skip


def _doing(read: Payload) -> str | None:
    tool = _tool(read)
    return label(tool, tool_input(read), absolute(read["cwd"])) if tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if _tool(read) not in EDITING_TOOLS:
        return None
    given = tool_input(read)
    path = plain(given.file_path if isinstance(given.file_path, str) else given.notebook_path, PATH_MOST)
    return below(read["cwd"], path)


def _tool(read: Payload) -> str:
    return text_of(read["tool_name"])


def _background(read: Payload, ended: str | None) -> tuple[Background, ...] | None:
    """All background tasks except the one that just ended: its own SubagentStop still lists it as running."""
    listed = tasks(read)
    if listed is None:
        return None
    running = (_task(task) for task in listed[:100] if text_of(task.status) not in OVER)
    return tuple(task for task in running if task is not None and task.id != ended)


def _task(task: Task) -> Background | None:
    id = subagent_of(task.id)
    if id is None:
        return None
    kind = one_line(task.type, 20) if isinstance(task.type, str) else "task"
    # Only a shell's description is used: a subagent's may be its prompt.
    told = (task.description, task.command) if kind == "shell" else (task.agent_type,)
    text = next((each for each in told if isinstance(each, str) and each), "")
    return Background(id, kind, one_line(redacted(text)))


def subagent_of(value: object) -> str | None:
    id = id_of(value)
    return None if id is None else bare_id(id)
