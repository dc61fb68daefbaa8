"""A stand-in for a Responses API, on loopback, so that the real Codex runs without account or network.

Rules of this file
  1. The prompt is the script, as in fake_anthropic.py: the n-th request after that prompt gets the n-th step.
  2. Standard library only, one thread a connection, an ephemeral port.

Steps: {"say": text} · {"slow": [seconds, text]} · {"bash": command} · {"use": [tool, input]} · {"after": [seconds, step]} ·
{"fail": [status, type]}.
"""

import json
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.rig.fake_anthropic import MARK, Step
from tests.rig.fake_chat import Loopback

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
        elif item.get("role") == "user" and MARK in (text := _text(item)):
            steps = json.JSONDecoder().raw_decode(text.split(MARK, 1)[1].lstrip())[0]
            return steps[answered] if answered < len(steps) else {"say": "The script is over."}
        elif item.get("role") == "user" and not _text(item).lstrip().startswith("<"):
            return {"say": "ok"}
    return {"say": "ok"}


def _text(item: dict[str, Any]) -> str:
    content = item.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._document(200, {"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        step = step_for(body)
        while "after" in step:
            time.sleep(float(step["after"][0]))
            step = step["after"][1]
        if "fail" in step:
            status, kind = step["fail"][:2]
            return self._document(int(status), {"error": {"message": "scripted", "type": kind, "code": kind}})
        return self._stream(body, step)

    def _stream(self, body: dict[str, Any], step: Step) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        begun = {"id": "resp", "object": "response", "status": "in_progress", "model": body.get("model")}
        self._event("response.created", {"response": {**begun, "output": []}})
        for name, data, rest in chunks(step, body):
            self._event(name, data)
            time.sleep(rest)
        self.close_connection = True

    def _event(self, name: str, data: dict[str, Any]) -> None:
        payload = json.dumps({"type": name, **data}).encode()
        self.wfile.write(b"event: " + name.encode() + b"\ndata: " + payload + b"\n\n")
        self.wfile.flush()

    def _document(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class FakeResponses(Loopback):
    def __init__(self) -> None:
        super().__init__(_Handler)
