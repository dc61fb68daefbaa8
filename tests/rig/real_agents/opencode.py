"""The real OpenCode, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. A server that was started here is ended here.

Not here: what the model answers (chat_completions.py), the home and the terminal (isolated_home.py, terminal.py).
"""

import json
import re
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rig.real_agents.isolated_home import KEY, Isolated
from tests.rig.real_agents.npm import installed
from tests.rig.terminal.terminal import Terminal
from tests.rig.waiting import wait_for

PACKAGE, VERSION, PROGRAM = "opencode-ai", "1.18.33", "opencode"


def programs() -> Path | None:
    return installed(PACKAGE, VERSION, PROGRAM)


@dataclass(frozen=True)
class OpenCode(Isolated):
    @property
    def root(self) -> Path:
        return self.home / ".config" / "opencode"

    @property
    def database(self) -> Path:
        return self.home / ".local" / "share" / "opencode" / "opencode.db"

    def prepare(self) -> None:
        """A home whose only model is the fake one; `touch` asks, everything else is allowed."""
        self.make_places()
        limit = {"context": 100_000, "output": 8_000}
        fake: dict[str, Any] = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": f"{self.api}/v1", "apiKey": KEY},
            "models": {"fake": {"name": "fake", "limit": limit}},
        }
        settings = {
            "model": "fake/fake",
            "small_model": "fake/fake",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"fake": fake},
            "permission": {"bash": {"*": "allow", "touch *": "ask"}},
        }
        (self.root / "opencode.json").write_text(json.dumps(settings))

    def own_variables(self) -> dict[str, str]:
        """It is told to fetch and update nothing."""
        return {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def start_run(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return self.start(["opencode", "run", *arguments, prompt])

    def open_tui(self, *arguments: str) -> Terminal:
        return self.open_terminal(["opencode", *arguments], r"Ask anything|ctrl\+p commands", 60)

    def serve(self) -> "Server":
        return Server(self)


class Server:
    """`opencode serve`: one process, any number of conversations, driven over its own HTTP API."""

    def __init__(self, cli: OpenCode) -> None:
        self._process = cli.start(["opencode", "serve", "--port", "0"])
        self.pid = self._process.pid
        assert self._process.stdout is not None
        told = (re.search(r"listening on (http://\S+)", line) for line in self._process.stdout)
        found = next((each for each in told if each), None)
        assert found is not None, "the server ended before it listened"
        self._url = found.group(1)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(self._url + path, method=method, data=data, headers=headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            raw = answer.read()
        return json.loads(raw) if raw else None

    def create(self) -> str:
        return str(self.call("POST", "/session", {})["id"])

    def ask(self, session: str, prompt: str) -> None:
        """Does not wait for the turn."""
        self.call("POST", f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": prompt}]})

    def wait_answering(self, session: str) -> None:
        """Until the model's answer has begun: a turn that is ended sooner leaves no trace of that. Its text is
        kept only at its end, so an empty part that is not completed is what there is to see."""

        def answering() -> bool:
            last = self.call("GET", f"/session/{session}/message")[-1]
            open_now = last["info"]["role"] == "assistant" and "completed" not in last["info"]["time"]
            return open_now and any(part["type"] == "text" for part in last["parts"])

        wait_for("an answer that has begun", answering, 60, every=0.2)

    def abort(self, session: str) -> None:
        self.call("POST", f"/session/{session}/abort", {})

    def answer_permission(self, reply: str) -> None:
        (asked,) = self.call("GET", "/permission")
        self.call("POST", f"/permission/{asked['id']}/reply", {"reply": reply})

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
