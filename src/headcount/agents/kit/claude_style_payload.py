"""Parts of a hook payload as Claude Code and Codex write them: a tool's input, and the work in the background.

Rules
  1. A tool call is shown as "Bash: npm test" or "Edit: locales/fr.json". A tool that is not in the table shows its
     name only: its input may hold anything.
  2. No file content, prompt or answer is read: of a tool's input only the one field in the table.
  3. Types are not trusted: a field may hold anything.

Not here: cutting and redacting (agents/kit/labels.py), the fields of the payload itself (agents/kit/hook_events.py),
what they mean (each agent's agents/<agent>/reports.py).
"""

from collections.abc import Callable

import msgspec

from headcount.agents.kit.hook_events import Payload
from headcount.agents.kit.labels import one_line, tool_line, tool_path
from headcount.agents.kit.safe_reading import decoded


class ToolInput(msgspec.Struct):
    """The fields of all tools' inputs that a label may show. `object`: what a field holds is not trusted."""

    command: object = None
    file_path: object = None
    notebook_path: object = None
    path: object = None
    pattern: object = None
    url: object = None
    query: object = None
    description: object = None
    skill: object = None
    questions: object = None


Labeller = Callable[[str, ToolInput, str | None], str]


def _field(name: str) -> Labeller:
    return lambda tool, given, cwd: tool_line(tool, getattr(given, name))


def _file(tool: str, given: ToolInput, cwd: str | None) -> str:
    path = given.file_path if isinstance(given.file_path, str) else given.notebook_path
    return tool_path(tool, path, cwd)


def _url(tool: str, given: ToolInput, cwd: str | None) -> str:
    url = given.url if isinstance(given.url, str) else ""
    return tool_line(tool, url.split("?", 1)[0].split("#", 1)[0])


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


BY_TOOL: dict[str, Labeller] = {
    "Bash": _field("command"),
    "PowerShell": _field("command"),
    "Monitor": _field("command"),
    "Edit": _file,
    "MultiEdit": _file,
    "Write": _file,
    "Read": _file,
    "NotebookEdit": _file,
    "NotebookRead": _file,
    "Glob": _field("pattern"),
    "Grep": _field("pattern"),
    "WebFetch": _url,
    "WebSearch": _field("query"),
    "Agent": _field("description"),
    "Task": _field("description"),
    "Skill": _field("skill"),
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


class Task(msgspec.Struct):
    """One entry of `background_tasks`."""

    id: object = None
    type: object = None
    status: object = None
    description: object = None
    command: object = None
    agent_type: object = None


_tool_input = msgspec.json.Decoder(ToolInput)
_tasks = msgspec.json.Decoder(list[Task])


def tool_input(payload: Payload) -> ToolInput:
    return decoded(_tool_input, payload.raw("tool_input")) or ToolInput()


def tasks(payload: Payload) -> list[Task] | None:
    return decoded(_tasks, payload.raw("background_tasks"))
