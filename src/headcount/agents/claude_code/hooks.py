"""Claude Code's hooks: which file they go into, and what Claude Code may ask the daemon.

Rules
  1. A running session reads its settings again within seconds.
  2. Questions are installed only if the user opted in: before an edit, and at a start. One row per question: the event
     and the tools it is for. The installer and the docs read it.

Not here: the events (reports.py), installing (agents/installing/json_hooks.py), the lines of questions
(agents/installing/hook_line_asks_daemon.py), their answers (daemon/routes/guard.py, daemon/routes/session_context.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.claude_code import NAME
from headcount.agents.claude_code.registry import ClaudeRegistry
from headcount.agents.claude_code.reports import EDITING_TOOLS, EVENTS
from headcount.agents.installing.hook_line_asks_daemon import CONTEXT, GUARD, Questions
from headcount.agents.installing.json_hooks import JsonHooks

QUESTIONS: Questions = {
    GUARD: ("PreToolUse", "|".join(EDITING_TOOLS)),
    CONTEXT: ("SessionStart", None),
}


def _roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return ClaudeRegistry().roots(env, home)


HOOKS = JsonHooks(
    agent=NAME,
    programs=("claude",),
    file="settings.json",
    observed=EVENTS.installed,
    find_roots=_roots,
    questions=QUESTIONS,
)
