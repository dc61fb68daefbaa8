"""What a tool call of Claude Code is called: "Bash: npm test", "Edit: locales/fr.json".

Reading a hook payload: bytes in, the fields we look at out, whatever the bytes are.

Rules
  1. A tool that is not in the table shows its name only: nobody knows what its input holds.
  2. No file content, no prompt, no answer: of an input only the one field in the table is read.
  3. Only the fields below are taken. Prompts, outputs and file contents are skipped over, not decoded.
  4. The strict decoder is the fast way. What it refuses is tried again leniently
     (agents/kit/safe_reading.py).
  5. Types are not trusted: every field may hold anything.

Not here: cutting and redacting (agents/kit/labels.py); what the fields mean (reports.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.kit import safe_reading
from headcount.agents.kit.labels import one_line, tool_line, tool_path
from headcount.agents.kit.safe_reading import NO_RAW


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


class Payload(msgspec.Struct):
    hook_event_name: Any = None
    session_id: Any = None
    transcript_path: Any = None
    cwd: Any = None
    permission_mode: Any = None
    agent_id: Any = None
    agent_type: Any = None
    source: Any = None
    reason: Any = None
    trigger: Any = None
    model: Any = None
    session_title: Any = None
    tool_name: Any = None
    mcp_server_name: Any = None
    error: Any = None
    is_interrupt: Any = None
    last_assistant_message: Any = None
    tool_input: msgspec.Raw = NO_RAW
    background_tasks: msgspec.Raw = NO_RAW


class Task(msgspec.Struct):
    """One entry of `background_tasks`."""

    id: Any = None
    type: Any = None
    status: Any = None
    description: Any = None
    command: Any = None
    agent_type: Any = None


_payload = msgspec.json.Decoder(Payload)
_tool_input = msgspec.json.Decoder(ToolInput)
_tasks = msgspec.json.Decoder(list[Task])


def read(payload: bytes) -> Payload | str:
    """The payload's fields, or why there are none."""
    try:
        return _payload.decode(payload)
    except msgspec.ValidationError:
        return "not a JSON object"
    except safe_reading.FAULTS:
        found = safe_reading.document(payload)
    try:
        return found if isinstance(found, str) else _from_document(found)
    except RecursionError:
        return "nested too deeply"


def tool_input(payload: Payload) -> ToolInput:
    return safe_reading.decoded(_tool_input, payload.tool_input) or ToolInput()


def tasks(payload: Payload) -> list[Task] | None:
    return safe_reading.decoded(_tasks, payload.background_tasks)


def _from_document(found: dict[str, Any]) -> Payload:
    """Halves of surrogate pairs stay in the plain fields: a path with one is no path, and a name loses it."""
    plain = {name: found[name] for name in Payload.__struct_fields__ if name in found}
    for name in ("tool_input", "background_tasks"):
        if name in plain:
            plain[name] = msgspec.Raw(msgspec.json.encode(safe_reading.whole(plain[name])))
    return Payload(**plain)
