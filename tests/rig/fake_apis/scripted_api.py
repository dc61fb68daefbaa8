"""What the stand-ins for models' APIs share: the script in the prompt, a server on loopback, answers and streams.

Rules of this file
  1. The prompt is the script: `SCRIPT:` and a JSON list of steps. The n-th request after that prompt gets the
     n-th step, so any number of sessions can share one server and none needs a state here.
  2. Standard library only, one thread a connection, an ephemeral port.

Steps of all: {"say": text} · {"slow": [seconds, text]} · {"bash": command} · {"use": [tool, input]} ·
{"after": [seconds, step]} · {"fail": [status, type]}.

Not here: what an API's requests and answers look like (anthropic_messages.py, chat_completions.py, gemini_api.py,
openai_responses.py).
"""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

MARK = "SCRIPT:"
CANARY = re.compile("cnry[0-9]+x[0-9a-f]*")
OVER = "The script is over."
Step = dict[str, Any]


def script(*steps: Step) -> str:
    """A prompt that makes the model do those steps."""
    return MARK + json.dumps(list(steps))


def lasting(text: str) -> Step:
    """Said over a second: of a turn that takes no time the CLI's own record may show nothing, and without hooks there is
    nothing else to see it by."""
    return {"slow": [1.0, text]}


def steps_in(text: str) -> list[Step]:
    """The script that stands in a text with MARK; ValueError when it cannot be read."""
    return list(json.JSONDecoder().raw_decode(text.split(MARK, 1)[1].lstrip())[0])


def nth_step(steps: list[Step], answered: int) -> Step:
    return steps[answered] if answered < len(steps) else {"say": OVER}


def title_of(body: dict[str, Any], otherwise: str) -> Step:
    """What the model answers when the CLI asks for a title: one that quotes the prompt, where a canary stands in that."""
    found = CANARY.search(json.dumps(body))
    return {"say": f"about {found[0]}" if found else otherwise}


def pieces(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_in(content: Any) -> str:
    """A message's content as one text, whether it is one or a list of parts."""
    return (
        content
        if isinstance(content, str)
        else "\n".join(str(part.get("text", "")) for part in content or ())
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def given(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def wait_due(self, step: Step) -> Step:
        """The step that is to be answered, when its time has come."""
        while "after" in step:
            time.sleep(float(step["after"][0]))
            step = step["after"][1]
        return step

    def document(self, data: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin_stream(self) -> None:
        """Server-sent events until the connection is closed."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def event(self, data: dict[str, Any], name: str = "") -> None:
        head = f"event: {name}\n" if name else ""
        self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a CLI that was killed in mid-request


class FakeApi:
    """`with FakeApi() as api:` listens on `api.url` until the block ends."""

    handler: type[Handler] = Handler

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), self.handler)
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
