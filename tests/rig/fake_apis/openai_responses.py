"""A stand-in for a Responses API, on loopback, so that the real Codex runs without account or network.

Rules of this file
  1. How many steps were answered is told by the calls in the conversation: answers without one end a turn.

Not here: the script in the prompt, the steps, the server (scripted_api.py).
"""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from tests.rig.fake_apis.scripted_api import MARK, FakeApi, Handler, Step, nth_step, steps_in, text_in

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 200},
    "output_tokens": 34,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 1234,
}
Chunk = tuple[str, dict[str, Any], float]  # event, what is sent, and the seconds to rest afterwards


def step_for(body: dict[str, Any]) -> Step:
    items = body.get("input")
    answered = 0
    for item in reversed(items if isinstance(items, list) else []):
        if item.get("type") in CALLS:
            answered += 1
        elif item.get("role") == "user" and MARK in (text := text_in(item.get("content"))):
            return nth_step(steps_in(text), answered)
        elif item.get("role") == "user" and not text_in(item.get("content")).lstrip().startswith("<"):
            return {"say": "ok"}
    return {"say": "ok"}


def _tool(step: Step, tools: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    if "use" in step:
        name, given = step["use"]
        return name, given
    command = step["bash"]
    names = {tool.get("name") for tool in tools}
    if "shell" in names:
        return "shell", {"command": ["bash", "-lc", command]}
    if "shell_command" in names:
        return "shell_command", {"command": command}
    return "exec_command", {"cmd": command}


def chunks(step: Step, body: dict[str, Any]) -> Iterator[Chunk]:
    id = uuid.uuid4().hex[:16]
    if "say" in step or "slow" in step:
        rest, text = (0.0, step["say"]) if "say" in step else (float(step["slow"][0]), step["slow"][1])
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {
            "type": "message",
            "id": f"msg_{id}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        begun = {**item, "content": [], "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": begun}, 0.0
        delta = {"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": text}
        yield "response.output_text.delta", delta, rest
    else:
        name, given = _tool(step, body.get("tools") or [])
        item = {
            "type": "function_call",
            "id": f"fc_{id}",
            "call_id": f"call_{id}",
            "name": name,
            "arguments": json.dumps(given),
            "status": "completed",
        }
        begun = {**item, "arguments": "", "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": begun}, 0.0
    yield "response.output_item.done", {"output_index": 0, "item": item}, 0.0
    done = {"id": f"resp_{id}", "object": "response", "status": "completed", "model": body.get("model")}
    yield "response.completed", {"response": {**done, "output": [item], "usage": USAGE}}, 0.0


class _Handler(Handler):
    def do_GET(self) -> None:
        self.document({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.given() or b"{}")
        step = self.wait_due(step_for(body))
        if "fail" in step:
            status, kind = step["fail"][:2]
            return self.document({"error": {"message": "scripted", "type": kind, "code": kind}}, int(status))
        return self._stream(body, step)

    def _stream(self, body: dict[str, Any], step: Step) -> None:
        self.begin_stream()
        begun = {"id": "resp", "object": "response", "status": "in_progress", "model": body.get("model")}
        self._tell("response.created", {"response": {**begun, "output": []}})
        for name, data, rest in chunks(step, body):
            self._tell(name, data)
            time.sleep(rest)

    def _tell(self, name: str, data: dict[str, Any]) -> None:
        self.event({"type": name, **data}, name)


class FakeResponses(FakeApi):
    handler = _Handler
