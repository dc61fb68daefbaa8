"""Reading a hook payload: bytes in, the fields we look at out, whatever the bytes are.

Rules of this file
  1. Only the fields below are taken. Prompts, outputs and file contents are skipped over, not decoded.
  2. The strict decoder is the fast way. What it refuses is tried again leniently, because the agent writes
     with JavaScript, which emits halves of surrogate pairs when it cuts a text (RFC 8259, section 8.2).
  3. Types are not trusted: every field may hold anything.

Not here: what the fields mean (translate.py).
"""

import json
from typing import Any

import msgspec

from headcount.agents.claude_code.labels import ToolInput

_NO_RAW = msgspec.Raw(b"null")


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
    tool_input: msgspec.Raw = _NO_RAW
    background_tasks: msgspec.Raw = _NO_RAW


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
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read(payload: bytes) -> Payload | str:
    """The payload's fields, or why there are none."""
    try:
        return _payload.decode(payload)
    except msgspec.ValidationError:
        return "not a JSON object"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_leniently(payload)


def tool_input(payload: Payload) -> ToolInput:
    try:
        return _tool_input.decode(payload.tool_input)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ToolInput()


def tasks(payload: Payload) -> list[Task] | None:
    try:
        return _tasks.decode(payload.background_tasks)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def keys(payload: bytes) -> list[str]:
    try:
        return list(_keys.decode(payload))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _read_leniently(payload: bytes) -> Payload | str:
    try:
        # No number is needed here, and one of ten thousand digits would raise. As text it could pass for an id.
        found = json.loads(
            payload.decode("utf-8-sig", "replace"), parse_int=_none, parse_float=_none, parse_constant=_none
        )
        return _from_dict(found) if isinstance(found, dict) else "not a JSON object"
    except ValueError:
        return "not JSON" if payload.strip() else "empty"
    except RecursionError:
        return "nested too deeply"


def _none(_: str) -> None:
    return None


def _from_dict(found: dict[str, Any]) -> Payload:
    plain = {name: found[name] for name in Payload.__struct_fields__ if name in found}
    for name in ("tool_input", "background_tasks"):
        if name in plain:
            plain[name] = msgspec.Raw(msgspec.json.encode(_without_halves(plain[name])))
    return Payload(**plain)


def _without_halves(value: Any) -> Any:
    """The same value in text that can be encoded: halves of surrogate pairs become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    return value
