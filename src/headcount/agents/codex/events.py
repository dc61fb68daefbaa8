"""All hook events of Codex, and what we do with each.

Rules of this file
  1. One table. The installer, the translation and the docs read it; nobody else lists events.
  2. Dropped always: what a session cannot be understood without, at most a few a turn. Dropped only while
     somebody listens: whatever comes with every tool, so that an abandoned install cannot fill the disk.

Not here: what an event means (reports.py).
"""

from headcount.agents.hook_events import HookEvent, Use

_ROWS = (
    HookEvent("SessionStart", Use.ALWAYS, "a conversation opens; in the terminal at its first prompt"),
    HookEvent("UserPromptSubmit", Use.ALWAYS, "a turn begins"),
    HookEvent("Stop", Use.ALWAYS, "a turn ended well; a failed turn has no hook, the rollout tells it"),
    HookEvent("Interrupt", Use.ALWAYS, "its user stopped the turn, also at an approval"),
    HookEvent("SessionEnd", Use.ALWAYS, "the conversation was closed in its process"),
    HookEvent("PreToolUse", Use.LISTENING, "what it is doing now"),
    HookEvent("PostToolUse", Use.LISTENING, "the tool ended; an approval asked for it was given"),
    HookEvent("PermissionRequest", Use.LISTENING, "it waits on its user; the rollout does not show this"),
    HookEvent("SubagentStart", Use.LISTENING, "work beside the main turn began"),
    HookEvent("SubagentStop", Use.LISTENING, "work beside the main turn ended"),
    HookEvent("PreCompact", Use.LISTENING, "a compaction runs"),
    HookEvent("PostCompact", Use.LISTENING, "the compaction is over"),
    HookEvent("PreModelRequest", Use.IGNORED, "comes before every request to the model; says nothing new"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}
OBSERVED: tuple[HookEvent, ...] = tuple(row for row in _ROWS if row.is_observed)

FIELDS = frozenset({
    "session_id", "turn_id", "transcript_path", "cwd", "hook_event_name", "model", "permission_mode", "source",
    "prompt", "tool_name", "tool_input", "tool_use_id", "tool_response", "stop_hook_active",
    "last_assistant_message", "reason", "agent_id", "agent_type", "agent_transcript_path", "trigger",
})  # fmt: skip
"""Every field that some event is known to carry. What is not here is counted, so that `doctor` shows a new CLI."""
