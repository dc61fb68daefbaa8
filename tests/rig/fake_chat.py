"""A stand-in for a Chat Completions API, on loopback, so that the real OpenCode runs without account or network.

Rules of this file
  1. The prompt is the script, as in fake_anthropic.py: the n-th request after that prompt gets the n-th step.
  2. A request without tools is the CLI's own side question (a title); it is answered by a title.
  3. Standard library only, one thread a connection, an ephemeral port.

Steps: {"say": text} · {"slow": [seconds, text]} · {"bash": command} · {"use": [tool, input]} · {"after": [seconds, step]} ·
{"fail": [status, type]}.
"""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.rig.fake_anthropic import MARK, Step

TITLE = "A scripted title"
Chunk = tuple[dict[str, Any], float]  # what is sent, and the seconds to rest afterwards


def step_for(body: dict[str, Any]) -> Step:
    if not body.get("tools"):
        return {"say": TITLE}
    answered = 0
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "assistant":
            answered += 1
        elif message.get("role") == "user" and MARK in (text := _text(message)):
            steps = _steps(text.split(MARK, 1)[1].lstrip())
            return steps[answered] if answered < len(steps) else {"say": "The script is over."}
        elif message.get("role") == "user":
            return {"say": "ok"}
    return {"say": "ok"}


def _steps(text: str) -> list[Step]:
    """`opencode run` hands a prompt with blanks on in quotes, its own quotes escaped."""
    for each in (text, text.replace('\\"', '"').replace("\\\\", "\\")):
        try:
            return list(json.JSONDecoder().raw_decode(each)[0])
        except ValueError:
            continue
    return [{"say": "no script could be read"}]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def chunks(step: Step) -> Iterator[Chunk]:
    """The deltas of one answer."""
    [(kind, value)] = step.items()
    if kind == "say":
        yield {"role": "assistant", "content": value}, 0.0
    elif kind == "slow":
        parts = [value[1][at : at + 4] for at in range(0, len(value[1]), 4)]
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._document(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})

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
        base = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:16]}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        for delta, rest in chunks(step):
            self._event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            time.sleep(rest)
        finish = "tool_calls" if "bash" in step or "use" in step else "stop"
        usage = {"prompt_tokens": 1234, "completion_tokens": 10, "total_tokens": 1244}
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}
        self._event({**base, **end})
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.close_connection = True

    def _event(self, data: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
        self.wfile.flush()

    def _document(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a CLI that was killed in mid-request


class Loopback:
    """`with Loopback(handler) as api:` listens on `api.url` until the block ends."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._handler = handler

    def __enter__(self) -> "Loopback":
        self._server = Server(("127.0.0.1", 0), self._handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class FakeChat(Loopback):
    def __init__(self) -> None:
        super().__init__(_Handler)
