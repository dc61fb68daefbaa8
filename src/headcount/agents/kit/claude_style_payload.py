"""What a tool call of Claude Code is called: "Bash: npm test", "Edit: locales/fr.json".

Rules of this file
  1. A tool that is not in the table shows its name only: nobody knows what its input holds.
  2. No file content, no prompt, no answer: of an input only the one field in the table is read.

Not here: cutting and redacting (agents/kit/labels.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.kit.labels import one_line, tool_line, tool_path


class ToolInput(msgspec.Struct):
    """The fields of all tools' inputs that a label may show. `Any`: what a field holds is not trusted."""

    command: Any = None
    file_path: Any = None
    notebook_path: Any = None
    path: Any = None
    pattern: Any = None
    url: Any = None
    query: Any = None
    description: Any = None
    skill: Any = None
    questions: Any = None


def _command(tool: str, given: ToolInput, cwd: str | None) -> str:
    return tool_line(tool, given.command)


def _file(tool: str, given: ToolInput, cwd: str | None) -> str:
    path = given.file_path if isinstance(given.file_path, str) else given.notebook_path
    return tool_path(tool, path, cwd)


def _pattern(tool: str, given: ToolInput, cwd: str | None) -> str:
    return tool_line(tool, given.pattern)


def _url(tool: str, given: ToolInput, cwd: str | None) -> str:
    url = given.url if isinstance(given.url, str) else ""
    return tool_line(tool, url.split("?", 1)[0].split("#", 1)[0])


def _query(tool: str, given: ToolInput, cwd: str | None) -> str:
    return tool_line(tool, given.query)


def _description(tool: str, given: ToolInput, cwd: str | None) -> str:
    return tool_line(tool, given.description)


def _skill(tool: str, given: ToolInput, cwd: str | None) -> str:
    return tool_line(tool, given.skill)


def _question(tool: str, given: ToolInput, cwd: str | None) -> str:
    """The header of the first question and how many answers it offers, never the question itself."""
    questions = given.questions if isinstance(given.questions, list) else []
    first = questions[0] if questions and isinstance(questions[0], dict) else {}
    header, options = first.get("header"), first.get("options")
    title = one_line(header, 50) if isinstance(header, str) and header.strip() else "question"
    if len(questions) > 1:
        return f"{title} ({len(questions)} questions)"
    count = len(options) if isinstance(options, list) else 0
    return f"{title} ({count} options)" if count else title


def _plan(tool: str, given: ToolInput, cwd: str | None) -> str:
    return "plan to approve"


BY_TOOL: dict[str, Callable[[str, ToolInput, str | None], str]] = {
    "Bash": _command,
    "PowerShell": _command,
    "Monitor": _command,
    "Edit": _file,
    "MultiEdit": _file,
    "Write": _file,
    "Read": _file,
    "NotebookEdit": _file,
    "NotebookRead": _file,
    "Glob": _pattern,
    "Grep": _pattern,
    "WebFetch": _url,
    "WebSearch": _query,
    "Agent": _description,
    "Task": _description,
    "Skill": _skill,
    "AskUserQuestion": _question,
    "ExitPlanMode": _plan,
}


def label(tool: str, given: ToolInput, cwd: str | None) -> str:
    make = BY_TOOL.get(tool)
    if make is not None:
        return make(tool, given, cwd)
    if tool.startswith("mcp__"):
        return one_line(" ".join(part for part in tool[5:].split("__") if part))
    return one_line(tool)
