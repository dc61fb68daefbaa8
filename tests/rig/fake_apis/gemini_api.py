"""A stand-in for the Gemini API, on loopback, so that the real Gemini CLI runs without account or network.

Rules of this file
  1. A request without tools is the CLI's own side question; it is answered by something harmless.

Not here: the script in the prompt, the steps, the server (scripted_api.py).
"""

import json
import time
from typing import Any

from tests.rig.fake_apis.scripted_api import MARK, FakeApi, Handler, Step, nth_step, pieces, steps_in

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
                return nth_step(steps_in(text), answered)
    return {"say": "ok"}


def parts(step: Step) -> list[tuple[dict[str, Any], float]]:
    """The parts of one answer, each with the seconds to rest afterwards."""
    [(kind, value)] = step.items()
    if kind == "say":
        return [({"text": value}, 0.0)]
    if kind == "slow":
        texts = pieces(value[1])
        return [({"text": text}, float(value[0]) / len(texts)) for text in texts]
    if kind == "bash":
        return [
            ({"functionCall": {"name": SHELL, "args": {"command": value, "description": "scripted"}}}, 0.0)
        ]
    if kind == "use":
        return [({"functionCall": {"name": value[0], "args": value[1]}}, 0.0)]
    raise ValueError(f"no such step: {kind}")


class _Handler(Handler):
    def do_GET(self) -> None:
        self.document({})

    def do_POST(self) -> None:
        body = json.loads(self.given() or b"{}")
        if "countTokens" in self.path:
            return self.document({"totalTokens": 10})
        step = self.wait_due(step_for(body))
        if "fail" in step:
            status, kind = step["fail"][:2]
            error = {"code": status, "message": "scripted", "status": kind}
            return self.document({"error": error}, int(status))
        if "stream" in self.path:
            return self._stream(step)
        return self.document(_reply(parts(step)[0][0], last=True))

    def _stream(self, step: Step) -> None:
        self.begin_stream()
        listed = parts(step)
        for nth, (part, rest) in enumerate(listed, 1):
            self.event(_reply(part, nth == len(listed)))
            time.sleep(rest)


def _reply(part: dict[str, Any], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    usage = {"promptTokenCount": 1234, "candidatesTokenCount": 2, "totalTokenCount": 1236}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


class FakeGemini(FakeApi):
    handler = _Handler
