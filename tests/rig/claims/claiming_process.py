"""A process that asks for claims on its own behalf, as a test tells it."""

import json
import os
import signal
import subprocess
import sys
from typing import Any
from urllib.parse import quote

from tests.rig.daemon.real_daemon import Daemon

PROGRAM = """
import json, sys
from headcount.client.transport.connection import Connection
connection = Connection(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    method, path, body, within = json.loads(line)
    answer = connection.call(method, path, body, within=within)
    print(json.dumps([answer.status, answer.data]), flush=True)
"""


class Worker:
    """A process that asks for claims on its own behalf."""

    def __init__(self, daemon: Daemon) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(daemon.socket)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ),
        )  # fmt: skip
        assert self._line() == "ready\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self, method: str, path: str, body: Any = None, within: float = 60) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([method, path, body, within]) + "\n")
        self.process.stdin.flush()

    def hear(self) -> tuple[int, Any]:
        status, data = json.loads(self._line())
        return status, data

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        self.ask(method, path, body)
        return self.hear()

    def claim(self, item: str, **more: Any) -> tuple[int, Any]:
        return self.call("POST", "/v1/claims", {"item": item, "own": True, **more})

    def release(self, item: str, query: str = "") -> tuple[int, Any]:
        return self.call("DELETE", f"/v1/claims/{quote(item, safe='')}{query}")

    def check(self, item: str, fence: int) -> bool:
        status, data = self.call("POST", f"/v1/claims/{quote(item, safe='')}/check", {"fence": fence})
        assert status == 200
        return data["current"]

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(10)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
