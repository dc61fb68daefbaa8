"""Callers: the same requests from every position in the tree of processes.

Rules of this file
  1. A caller is a real process that connects by itself: what the kernel says of it is what the daemon sees.
  2. All requests of a caller go out one after the other from one process, each on a connection of its own.
  3. The operator is detached and carries no marks, also when the tests themselves are run inside an agent.
"""

import json
import os
import shlex
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import eventually

ASK = """
import http.client, json, os, socket, sys
path, asked, answers = sys.argv[1:]
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)  # a busy machine is not a deaf daemon
        self.sock.connect(path)
done = []
for method, target, body, headers in json.load(open(asked)):
    link = Unix("localhost")
    try:
        data = None if body is None else json.dumps(body)
        kind = {"content-type": "application/json"} if method == "POST" else {}
        link.request(method, target, data, {**kind, **headers})
        answer = link.getresponse()
        stream = answer.getheader("content-type", "").startswith("text/event-stream")
        text = "" if stream else answer.read().decode()
        try:
            text = json.loads(text)
        except ValueError:
            pass
        done.append([answer.status, text])
    except OSError as error:
        done.append([0, type(error).__name__])
    finally:
        link.close()
open(answers + ".new", "w").write(json.dumps(done))
os.rename(answers + ".new", answers)
"""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    data: Any

    @property
    def code(self) -> str | None:
        error = self.data.get("error") if isinstance(self.data, dict) else None
        return error["code"] if error else None


class Errand:
    """The requests of one caller: a command line to be run somewhere, and the answers once it was."""

    def __init__(self, directory: Path, socket: Path, requests: list[Request]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._base = directory / uuid.uuid4().hex
        self._count = len(requests)
        script = directory / "ask.py"
        script.write_text(ASK)
        asked = [[each.method, each.target, each.body, each.headers] for each in requests]
        self._base.with_suffix(".asked").write_text(json.dumps(asked))
        self.words = [
            os.path.realpath(sys.executable), "-I", "-S", str(script), str(socket),
            str(self._base.with_suffix(".asked")), str(self._base.with_suffix(".answers")),
        ]  # fmt: skip

    @property
    def line(self) -> str:
        return shlex.join(self.words)

    def answers(self) -> list[Answer]:
        path = self._base.with_suffix(".answers")
        eventually(path.exists, within=30)
        found = [Answer(status, data) for status, data in json.loads(path.read_text())]
        assert len(found) == self._count
        return found


def bare() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def detached(errand: Errand, *before: str, **env: str) -> list[Answer]:
    """A child of init only, in a session of its own."""
    subprocess.run(
        ["setsid", "-f", *before, *errand.words], env={**bare(), **env}, check=True, stdin=subprocess.DEVNULL
    )
    return errand.answers()


def child(agent: Agent, errand: Errand) -> list[Answer]:
    """What the agent's shell tool runs."""
    agent.run(errand.line)
    return errand.answers()


def marks(agent: Agent) -> dict[str, str]:
    return {"CLAUDE_CODE_SESSION_ID": agent.conversation, "CLAUDE_PID": str(agent.pid), "CLAUDECODE": "1"}


def left_behind(agent: Agent, errand: Errand, how: str = "setsid") -> list[Answer]:
    """Started by the agent, with its marks, and re-parented: by a session of its own or by a double fork."""
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in marks(agent).items())
    lines = {
        "setsid": f"env {words} setsid -f {errand.line}",
        "double fork": f"env {words} /bin/sh -c {shlex.quote(f'( {errand.line} & )')}",
    }
    agent.run(lines[how])
    return errand.answers()


def nested(agent: Agent, errand: Errand) -> list[Answer]:
    """From inside another agent that the agent's shell started."""
    inner = program(agent.cwd / "nested")
    agent.run(f"echo {shlex.quote(errand.line)} | {shlex.quote(str(inner))} -s")
    return errand.answers()
