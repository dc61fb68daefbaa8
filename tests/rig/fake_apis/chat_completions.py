"""A stand-in for a Chat Completions API, on loopback, so that the real OpenCode runs without account or network.

Rules of this file
  1. A request without tools is the CLI's own side question (a title); it is answered by a title.

Not here: the script in the prompt, the steps, the server (scripted_api.py).
"""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from tests.rig.fake_apis.scripted_api import (
    MARK,
    FakeApi,
    Handler,
    Step,
    nth_step,
    pieces,
    steps_in,
    text_in,
    title_of,
)

TITLE = "A scripted title"
Chunk = tuple[dict[str, Any], float]  # what is sent, and the seconds to rest afterwards


def step_for(body: dict[str, Any]) -> Step:
    if not body.get("tools"):
        return title_of(body, TITLE)
    answered = 0
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "assistant":
            answered += 1
        elif message.get("role") == "user" and MARK in (text := text_in(message.get("content"))):
            return nth_step(_steps(text), answered)
        elif message.get("role") == "user":
            return {"say": "ok"}
    return {"say": "ok"}


def _steps(text: str) -> list[Step]:
    """`opencode run` hands a prompt with blanks on in quotes, its own quotes escaped."""
    for each in (text, text.replace('\\"', '"').replace("\\\\", "\\")):
        try:
            return steps_in(each)
        except ValueError:
            continue
    return [{"say": "no script could be read"}]


def chunks(step: Step) -> Iterator[Chunk]:
    """The deltas of one answer."""
    [(kind, value)] = step.items()
    if kind == "say":
        yield {"role": "assistant", "content": value}, 0.0
    elif kind == "slow":
        parts = pieces(value[1])
        for part in parts:
            yield {"role": "assistant", "content": part}, float(value[0]) / len(parts)
    elif kind in ("bash", "use"):
        name, given = value if kind == "use" else ("bash", {"command": value, "description": "scripted"})
        call = {"name": name, "arguments": json.dumps(given)}
        id = f"call_{uuid.uuid4().hex[:16]}"
        tool = {"index": 0, "id": id, "type": "function", "function": call}
        yield {"role": "assistant", "tool_calls": [tool]}, 0.0
    else:
        raise ValueError(f"no such step: {kind}")


class _Handler(Handler):
    def do_GET(self) -> None:
        self.document({"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.given() or b"{}")
        step = self.wait_due(step_for(body))
        if "fail" in step:
            status, kind = step["fail"][:2]
            return self.document({"error": {"message": "scripted", "type": kind, "code": kind}}, int(status))
        return self._stream(body, step)

    def _stream(self, body: dict[str, Any], step: Step) -> None:
        self.begin_stream()
        base = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:16]}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        for delta, rest in chunks(step):
            self.event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            time.sleep(rest)
        finish = "tool_calls" if "bash" in step or "use" in step else "stop"
        usage = {"prompt_tokens": 1234, "completion_tokens": 10, "total_tokens": 1244}
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}
        self.event({**base, **end})
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()


class FakeChat(FakeApi):
    handler = _Handler
