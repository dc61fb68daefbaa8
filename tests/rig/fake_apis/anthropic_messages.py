"""A stand-in for the Messages API, on loopback, so that the real CLI runs without account or network.

Steps beside those of all (scripted_api.py): {"all": [[tool, input], …]} · {"times": [n, step]} ·
{"fail": [status, type, message]}.

Not here: the script in the prompt, the server (scripted_api.py).
"""

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.rig.fake_apis.scripted_api import (
    MARK,
    FakeApi,
    Handler,
    Step,
    nth_step,
    pieces,
    steps_in,
    title_of,
)

NOT_THE_USER = ("<system-reminder>", "[Request interrupted", "<local-command", "<command-", "<bash-")


@dataclass(frozen=True)
class Answer:
    blocks: list[dict[str, Any]]
    over_seconds: float = 0.0
    after_seconds: float = 0.0
    status: int = 200
    error: tuple[str, str] = ("", "")


def step_for(body: dict[str, Any]) -> Step:
    """Which step this request is due: the script is in the newest words of the user."""
    if not body.get("tools"):
        return title_of(body, "A title")  # the CLI's own side questions have no tools
    answered = 0
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "assistant":
            answered += 1
        if message.get("role") != "user":
            continue
        for text in reversed(_texts(message)):
            if text.lstrip().startswith(NOT_THE_USER[0]):
                continue
            if MARK in text:
                return nth_step(_unrolled(steps_in(text)), answered)
            if not _has_results(message) and not text.lstrip().startswith(NOT_THE_USER):
                return {"say": "ok"}
    return {"say": "ok"}


def answer(step: Step) -> Answer:
    [(kind, value)] = step.items()
    if kind == "say":
        return Answer([{"type": "text", "text": value}])
    if kind == "slow":
        return Answer([{"type": "text", "text": value[1]}], over_seconds=float(value[0]))
    if kind == "bash":
        return Answer([_use("Bash", {"command": value, "description": "scripted"})])
    if kind == "use":
        return Answer([_use(*value)])
    if kind == "all":
        return Answer([_use(tool, given) for tool, given in value])
    if kind == "after":
        later = answer(value[1])
        return Answer(later.blocks, later.over_seconds, float(value[0]), later.status, later.error)
    if kind == "fail":
        return Answer([], status=int(value[0]), error=(value[1], value[2] if len(value) > 2 else "scripted"))
    raise ValueError(f"no such step: {kind}")


def _use(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": tool, "input": given}


def _unrolled(steps: list[Step]) -> list[Step]:
    return [
        each
        for step in steps
        for each in ([step["times"][1]] * step["times"][0] if "times" in step else [step])
    ]


def _texts(message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [block.get("text", "") for block in content or [] if block.get("type") == "text"]


def _has_results(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)


def events_of(message: dict[str, Any], reply: Answer) -> Iterator[tuple[str, dict[str, Any], float]]:
    """The stream of one answer: name, data, seconds to rest afterwards."""
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}, 0.0
    for index, block in enumerate(reply.blocks):
        if block["type"] == "text":
            yield "content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}}, 0.0
            size = 4 if reply.over_seconds else len(block["text"]) or 1
            parts = pieces(block["text"], size)
            for part in parts:
                delta = {"type": "text_delta", "text": part}
                yield "content_block_delta", {"index": index, "delta": delta}, reply.over_seconds / len(parts)
        else:
            yield "content_block_start", {"index": index, "content_block": {**block, "input": {}}}, 0.0
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield "content_block_delta", {"index": index, "delta": delta}, 0.0
        yield "content_block_stop", {"index": index}, 0.0
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": end, "usage": {"output_tokens": 20}}, 0.0
    yield "message_stop", {}, 0.0


class _Handler(Handler):
    def do_GET(self) -> None:
        self.document({"data": [], "has_more": False})

    def do_HEAD(self) -> None:
        self.document({})

    def do_POST(self) -> None:
        raw = self.given()
        path = self.path.split("?")[0]
        tokens = max(1, len(raw) // 4)
        if path.endswith("/count_tokens"):
            return self.document({"input_tokens": tokens})
        if not path.endswith("/v1/messages"):
            return self.document({})
        body = json.loads(raw)
        reply = answer(step_for(body))
        time.sleep(reply.after_seconds)
        if reply.status != 200:
            kind, text = reply.error
            return self.document({"type": "error", "error": {"type": kind, "message": text}}, reply.status)
        message = _message(body, reply, tokens)
        return self._stream(message, reply) if body.get("stream") else self.document(message)

    def _stream(self, message: dict[str, Any], reply: Answer) -> None:
        self.send_response(200)
        for name, value in (("content-type", "text/event-stream"), ("transfer-encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()
        try:
            for kind, data, rest in events_of(message, reply):
                event = f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                self.wfile.flush()
                time.sleep(rest)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # Esc: the CLI hung up


def _message(body: dict[str, Any], reply: Answer, tokens: int) -> dict[str, Any]:
    uses_tool = any(block["type"] == "tool_use" for block in reply.blocks)
    usage = {"input_tokens": tokens, "output_tokens": 20}
    usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "fake"),
        "content": reply.blocks,
        "stop_reason": "tool_use" if uses_tool else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


class FakeAnthropic(FakeApi):
    handler = _Handler
