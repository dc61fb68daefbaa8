"""Claude Code's hooks: which file, which events. Running sessions read their settings again within seconds.

All hook events of Claude Code, and what we do with each.

What Claude Code may ask the daemon, when its user opted in: before an edit, and at a start.

Rules
  1. One table. The installer, the translation and the docs read it; nobody else lists events.
  2. Only events that merely tell are registered. One that *replaces* what the agent does, never (accident
     H6).
  3. Dropped always: what a session cannot be understood without, at most a few a turn. Dropped only while
     somebody listens: whatever comes with every tool, so that an abandoned install cannot fill the disk.
  4. Only events that 2.1.197 knows already: a CLI that finds an unknown event in its settings stops its user
     with a warning at every start.
  5. One row a question: the event, the tools it is for. The installer and the docs read it.

Not here: the installing (agents/installing/json_hooks.py), what each event is for (hooks.py); what an event
  means (reports.py), the line that is installed (hooks.py); the line and what an install asks for
  (agents/installing/query_line.py), the answers (daemon/routes/guard.py, context.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.claude_code import NAME
from headcount.agents.claude_code.registry import Sessions
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.agents.installing.query_line import CONTEXT, GUARD, Questions
from headcount.agents.kit.hook_events import HookEvent, Use

_ROWS = (
    HookEvent(
        "SessionStart", Use.ALWAYS, "a conversation opens in a process: startup, resume, clear, fork, compact"
    ),
    HookEvent("UserPromptSubmit", Use.ALWAYS, "a turn begins"),
    HookEvent("Stop", Use.ALWAYS, "a turn ended, with what still runs in the background"),
    HookEvent("StopFailure", Use.ALWAYS, "a turn ended by an error or a limit; comes instead of Stop"),
    HookEvent("SessionEnd", Use.ALWAYS, "the conversation leaves its process, and why"),
    HookEvent("PreToolUse", Use.LISTENING, "what it is doing now"),
    HookEvent("PostToolUse", Use.LISTENING, "the tool ended; a permission asked for it was given"),
    HookEvent("PostToolUseFailure", Use.LISTENING, "the tool ended by failing"),
    HookEvent(
        "PermissionRequest", Use.LISTENING, "it waits on its user, seconds before the Notification (S4)"
    ),
    HookEvent("PermissionDenied", Use.LISTENING, "auto mode refused the tool: it waits no more"),
    HookEvent("Elicitation", Use.LISTENING, "a tool server asks the user"),
    HookEvent("ElicitationResult", Use.LISTENING, "the user answered the tool server"),
    HookEvent("SubagentStart", Use.LISTENING, "work beside the main turn began"),
    HookEvent("SubagentStop", Use.LISTENING, "work beside the main turn ended"),
    HookEvent("PreCompact", Use.LISTENING, "a compaction runs (S2)"),
    HookEvent("PostCompact", Use.LISTENING, "the compaction is over"),
    HookEvent(
        "Notification", Use.IGNORED, "seconds late (S4), and `permission_prompt` also for questions and plans"
    ),
    HookEvent("PostToolBatch", Use.IGNORED, "repeats its tools with all their output; says nothing new"),
    HookEvent("UserPromptExpansion", Use.IGNORED, "UserPromptSubmit follows when it becomes a turn"),
    HookEvent("PreModelSwitch", Use.IGNORED, "may still be refused"),
    HookEvent(
        "PostModelSwitch",
        Use.IGNORED,
        "unknown to 2.1.197 (rule 4); the transcript names the model",
    ),
    HookEvent("Setup", Use.IGNORED, "runs before there is a session to see"),
    HookEvent("TeammateIdle", Use.IGNORED, "a teammate is a process with hooks of its own"),
    HookEvent("TaskCreated", Use.IGNORED, "an item of a to-do list, not work that runs"),
    HookEvent("TaskCompleted", Use.IGNORED, "an item of a to-do list, not work that ran"),
    HookEvent("ConfigChange", Use.IGNORED, "may hold a change back; says nothing of activity"),
    HookEvent("InstructionsLoaded", Use.IGNORED, "says nothing of activity"),
    HookEvent("CwdChanged", Use.IGNORED, "every observed event carries the directory"),
    HookEvent("FileChanged", Use.IGNORED, "makes the agent watch files for us"),
    HookEvent("DirectoryAdded", Use.IGNORED, "says nothing of activity"),
    HookEvent("MessageDisplay", Use.IGNORED, "once for every few lines of every answer"),
    HookEvent(
        "WorktreeCreate", Use.NEVER, "a hook on it replaces git's own creation and breaks all worktrees (H6)"
    ),
    HookEvent("WorktreeRemove", Use.NEVER, "the other half of the WorktreeCreate replacement"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}
OBSERVED: tuple[HookEvent, ...] = tuple(row for row in _ROWS if row.is_observed)

FIELDS = frozenset({
    "session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode", "effort",
    "agent_id", "agent_type", "source", "model", "session_title", "seconds_since_last_response",
    "context_tokens", "prompt_cache_likely_expired", "estimated_cache_write_usd", "reason", "prompt",
    "expansion_type", "command_name", "command_args", "command_source", "tool_name", "tool_input",
    "tool_use_id", "mcp_server", "tool_response", "error", "is_interrupt", "duration_ms", "tool_calls",
    "permission_suggestions", "message", "title", "notification_type", "stop_hook_active",
    "last_assistant_message", "background_tasks", "session_crons", "agent_transcript_path", "trigger",
    "custom_instructions", "compact_summary", "from_model", "to_model", "requested_model",
    "prompt_cache_warm", "cache_ttl", "pricing", "mcp_server_name", "mode", "requested_schema",
    "action", "elicitation_id", "url", "content", "file_path", "memory_type", "load_reason", "globs",
    "trigger_file_path", "parent_file_path", "old_cwd", "new_cwd", "event", "directory", "turn_id",
    "message_id", "index", "final", "delta", "task_id", "task_subject", "task_description",
    "teammate_name", "team_name", "name", "worktree_path", "error_details",
})  # fmt: skip
"""Every field that some event is known to carry. What is not here is counted, so that `doctor` shows a new CLI."""


EDITING_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit")

QUESTIONS: Questions = {
    GUARD: ("PreToolUse", "|".join(EDITING_TOOLS)),
    CONTEXT: ("SessionStart", None),
}


def _roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return Sessions().roots(env, home)


HOOKS = JsonHooks(
    agent=NAME,
    programs=("claude",),
    file="settings.json",
    observed=OBSERVED,
    find_roots=_roots,
    questions=QUESTIONS,
)
