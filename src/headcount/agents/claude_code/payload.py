"""Reading a hook payload: bytes in, the fields we look at out, whatever the bytes are.

Rules of this file
  1. Only the fields below are taken. Prompts, outputs and file contents are skipped over, not decoded.
  2. The strict decoder is the fast way. What it refuses is tried again leniently (agents/kit/safe_reading.py).
  3. Types are not trusted: every field may hold anything.

Not here: what the fields mean (reports.py).
"""

from typing import Any

import msgspec

from headcount.agents.kit import safe_reading
from headcount.agents.kit.claude_style_payload import ToolInput
from headcount.agents.kit.safe_reading import NO_RAW


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
