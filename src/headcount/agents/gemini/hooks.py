"""Gemini CLI's hooks: which file, which events. A running session reads its settings when it starts.

All hook events of Gemini CLI, and what we do with each.

Rules
  1. Its time limits are in milliseconds.
  2. One table. The installer, the translation and the docs read it; nobody else lists events.
  3. Only events that merely tell, and are small, are registered.
  4. Dropped always: what a session cannot be understood without. Dropped only while somebody listens:
     whatever comes with every tool.

Not here: the installing (agents/installing/json_hooks.py), what each event is for (hooks.py); what an event
  means (reports.py), the line that is installed (hooks.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.gemini import NAME
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.agents.kit.hook_events import HookEvent, Use
from headcount.times import HOOK_WITHIN

_ROWS = (
    HookEvent("SessionStart", Use.ALWAYS, "a conversation opens in a process: startup, resume, clear"),
    HookEvent("BeforeAgent", Use.ALWAYS, "a turn begins"),
    HookEvent("AfterAgent", Use.ALWAYS, "a turn ended; also after an error, which only the transcript shows"),
    HookEvent("SessionEnd", Use.ALWAYS, "the conversation leaves its process, and why"),
    HookEvent("BeforeTool", Use.LISTENING, "what it is doing now"),
    HookEvent("AfterTool", Use.LISTENING, "the tool ended; a permission asked for it was given"),
    HookEvent("Notification", Use.LISTENING, "it waits on its user; the dialog is on the screen"),
    HookEvent(
        "PreCompress", Use.IGNORED, "comes before every request, whether anything is compressed or not"
    ),
    HookEvent("BeforeModel", Use.IGNORED, "carries the whole conversation, and may replace the request"),
    HookEvent("AfterModel", Use.IGNORED, "once for every piece of every answer, with the whole conversation"),
    HookEvent("BeforeToolSelection", Use.IGNORED, "carries the whole conversation, and may change the tools"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}
OBSERVED: tuple[HookEvent, ...] = tuple(row for row in _ROWS if row.is_observed)

FIELDS = frozenset({
    "session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "source", "reason", "prompt",
    "prompt_response", "stop_hook_active", "tool_name", "tool_input", "tool_response", "mcp_context",
    "original_request_name", "notification_type", "message", "details", "trigger", "llm_request", "llm_response",
})  # fmt: skip
"""Every field that some event is known to carry. What is not here is counted, so that `doctor` shows a new CLI."""


MILLI = 1000


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """`GEMINI_CLI_HOME` stands in the place of the home directory."""
    given = env.get("GEMINI_CLI_HOME")
    return [(Path(given) if given else home) / ".gemini"]


HOOKS = JsonHooks(
    agent=NAME,
    programs=("gemini",),
    file="settings.json",
    observed=OBSERVED,
    find_roots=roots,
    within=HOOK_WITHIN * MILLI,
)
