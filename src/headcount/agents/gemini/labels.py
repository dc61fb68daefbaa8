"""What a tool call of Gemini CLI is called: "Shell: npm test", "Edit: src/app.ts".

Rules of this file
  1. A tool that is not in the table shows its name only: nobody knows what its input holds.
  2. Of an input only the one field in the table is read: no content, no prompt.

Not here: cutting and redacting (agents/kit/labels.py).
"""

from typing import Any

import msgspec

from headcount.agents.kit.labels import tool_line, tool_path


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
    if field in PATHS:
        return tool_path(shown, value, cwd)
    return tool_line(shown, value)
