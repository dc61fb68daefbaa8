"""What a tool call of Gemini CLI is called: "Shell: npm test", "Edit: src/app.ts".

Rules of this file
  1. A tool that is not in the table shows its name only: nobody knows what its input holds.
  2. Of an input only the one field in the table is read: no content, no prompt.

Not here: cutting and redacting (agents/label.py).
"""

from typing import Any

import msgspec

from headcount.agents.label import one_line, path_line, redacted

SHOWN = 80


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
    if not isinstance(value, str) or not value.strip():
        return one_line(shown)
    if field in PATHS:
        return f"{shown}: {path_line(_inside(value, cwd), SHOWN - len(shown) - 2)}"
    return one_line(f"{shown}: {redacted(value)}")


def _inside(path: str, cwd: str | None) -> str:
    prefix = f"{cwd.rstrip('/')}/" if cwd else ""
    return path[len(prefix) :] if prefix and path.startswith(prefix) else path
