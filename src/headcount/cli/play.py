"""The play: who does what and when, in about twenty seconds.

Rules of this file
  1. Cues are a table: a fraction of the whole, an actor, and what it reports. Nothing sleeps here.

Not here: how a stand-in is made (cli/actions/demo_sandbox.py), drawing and waiting (commands/demo.py).
"""

from typing import Any, NamedTuple

CAST = (
    ("i18n", "web", "i18n"),
    ("auth-refactor", "api", "auth-12"),
    ("docs-sweep", "docs", "main"),
    ("bench-sqlite", "core", "bench"),
)

VICTIM = "i18n"


class Cue(NamedTuple):
    at: float  # of the whole, 0 to 1
    actor: str
    event: str  # a hook event, or KILL
    fields: dict[str, Any] = {}  # noqa: RUF012 (never changed)


KILL = "SIGKILL"


def _tool(name: str, **tool_input: str) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": tool_input, "tool_use_id": "toolu_demo"}


CUES = (
    *(
        Cue(0.02 * index, name, "SessionStart", {"source": "startup"})
        for index, (name, _, _) in enumerate(CAST)
    ),
    Cue(0.10, "i18n", "UserPromptSubmit", {"prompt": "translate"}),
    Cue(0.12, "auth-refactor", "UserPromptSubmit", {"prompt": "migrate"}),
    Cue(0.14, "docs-sweep", "UserPromptSubmit", {"prompt": "sweep"}),
    Cue(0.16, "bench-sqlite", "UserPromptSubmit", {"prompt": "measure"}),
    Cue(0.20, "i18n", "PreToolUse", _tool("Edit", file_path="locales/fr.json")),
    Cue(0.22, "bench-sqlite", "PreToolUse", _tool("Bash", command="make bench")),
    Cue(0.25, "docs-sweep", "PreToolUse", _tool("Edit", file_path="docs/index.md")),
    Cue(0.30, "auth-refactor", "PreToolUse", _tool("Bash", command="alembic upgrade head")),
    Cue(0.32, "auth-refactor", "PermissionRequest", _tool("Bash", command="alembic upgrade head")),
    Cue(0.45, "docs-sweep", "Stop", {"stop_hook_active": False, "background_tasks": []}),
    Cue(0.50, "i18n", "PreToolUse", _tool("Bash", command="npm test")),
    Cue(0.65, VICTIM, KILL),
    Cue(0.85, "bench-sqlite", "PreToolUse", _tool("Bash", command="make report")),
)
