"""A stand-in for the Gemini API, on loopback, so that the real Gemini CLI runs without account or network.

Rules of this file
  1. The prompt is the script, as in fake_anthropic.py: the n-th request after that prompt gets the n-th step.
  2. A request without tools is the CLI's own side question; it is answered by something harmless.
  3. Standard library only, one thread a connection, an ephemeral port.

Steps: {"say": text} · {"slow": [seconds, text]} · {"bash": command} · {"use": [tool, input]} · {"after": [seconds, step]} ·
{"fail": [status, type]}.
"""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.rig.fake_anthropic import MARK, Step
from tests.rig.fake_chat import Loopback

SHELL = "run_shell_command"


def step_for(body: dict[str, Any]) -> Step:
    if not body.get("tools"):
        return {"say": "{}"}
    answered = 0
    for content in reversed(body.get("contents", [])):
        if content.get("role") == "model":
            answered += 1
            continue
        for part in reversed(content.get("parts", [])):
            if MARK in (text := str(part.get("text", ""))):
                steps = json.JSONDecoder().raw_decode(text.split(MARK, 1)[1].lstrip())[0]
                return steps[answered] if answered < len(steps) else {"say": "The script is over."}
    return {"say": "ok"}


def parts(step: Step) -> list[tuple[dict[str, Any], float]]:
    """The parts of one answer, each with the seconds to rest afterwards."""
    [(kind, value)] = step.items()
    if kind == "say":
        return [({"text": value}, 0.0)]
    if kind == "slow":
        pieces = [value[1][at : at + 4] for at in range(0, len(value[1]), 4)]
        return [({"text": piece}, float(value[0]) / len(pieces)) for piece in pieces]
    if kind == "bash":
        return [
            ({"functionCall": {"name": SHELL, "args": {"command": value, "description": "scripted"}}}, 0.0)
        ]
    if kind == "use":
        return [({"functionCall": {"name": value[0], "args": value[1]}}, 0.0)]
    raise ValueError(f"no such step: {kind}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._document(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "countTokens" in self.path:
            return self._document(200, {"totalTokens": 10})
        step = step_for(body)
        while "after" in step:
            time.sleep(float(step["after"][0]))
            step = step["after"][1]
        if "fail" in step:
            status, kind = step["fail"][:2]
            return self._document(
                int(status), {"error": {"code": status, "message": "scripted", "status": kind}}
            )
        if "stream" in self.path:
            return self._stream(step)
        return self._document(200, _reply(parts(step)[0][0], last=True))

    def _stream(self, step: Step) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        listed = parts(step)
        for nth, (part, rest) in enumerate(listed, 1):
            self.wfile.write(b"data: " + json.dumps(_reply(part, nth == len(listed))).encode() + b"\n\n")
            self.wfile.flush()
            time.sleep(rest)
        self.close_connection = True

    def _document(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _reply(part: dict[str, Any], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    usage = {"promptTokenCount": 1234, "candidatesTokenCount": 2, "totalTokenCount": 1236}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


class FakeGemini(Loopback):
    def __init__(self) -> None:
        super().__init__(_Handler)
