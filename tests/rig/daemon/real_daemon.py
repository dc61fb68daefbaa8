"""A real daemon in a home of its own, for tests.

Rules of this file
  1. The daemon is the real one, as a child of the test, so that it can be killed and its exit seen.
  2. Waiting is on a condition with a deadline, never for a time.
  3. HOME is the test's own: no agent of the person who runs the tests is touched. Their processes may
     still be found by the census, so tests look for their own conversation or pid.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from headcount.client.transport.connection import Connection, Response

T = TypeVar("T")
WITHIN = 10.0
ANSWER_WITHIN = 30.0  # a busy machine is not a deaf daemon
START_WITHIN = 60.0


def eventually(ask: Callable[[], T], within: float = WITHIN) -> T:
    """The first true answer; an AssertionError with the last one when none comes."""
    deadline = time.monotonic() + within
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"never became true: {ask}, last {answer!r}"
        time.sleep(0.005)


class Daemon:
    def __init__(self, home: Path, **env: str) -> None:
        self.home = home
        self.user_home = home / "user"
        self.user_home.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.user_home),
            "HEADCOUNT_HOME": str(home),
            "LANG": "C.UTF-8",
            **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
            **env,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.word = ""
        self.wrapper: tuple[str, ...] = ()  # what every start of it goes through

    # --- its life ------------------------------------------------------------------------------------

    def start(self, wrapper: tuple[str, ...] = ()) -> "Daemon":
        readable, writable = os.pipe()
        try:
            self.process = subprocess.Popen(
                [
                    *(wrapper or self.wrapper),
                    sys.executable,
                    "-m",
                    "headcount.daemon.main",
                    "--foreground",
                    "--ready-fd",
                    str(writable),
                ],
                env=self.env,
                pass_fds=(writable,),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.close(writable)
        with open(readable, "rb") as pipe:
            assert select.select([pipe], [], [], START_WITHIN)[0], "the daemon said nothing"
            self.word = pipe.readline().decode().strip()
        return self

    def ready(self) -> "Daemon":
        self.start()
        assert self.word == "ready", f"{self.word!r}: {self.log()}"
        return self

    def kill(self, number: int = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(WITHIN)

    def restart(self) -> "Daemon":
        """kill -9, then a new one."""
        self.kill()
        return self.ready()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(WITHIN)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self) -> "Daemon":
        return self.ready()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- asking it -----------------------------------------------------------------------------------

    @property
    def socket(self) -> Path:
        return self.home / "headcount.sock"

    @property
    def mailbox(self) -> Path:
        return self.home / "mailbox"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def log(self) -> str:
        path = self.home / "log" / "headcount.log"
        return path.read_text() if path.exists() else ""

    def call(self, method: str, path: str, body: Any = None) -> Response:
        connection = Connection(str(self.socket))
        try:
            return connection.call(method, path, body, within=ANSWER_WITHIN)
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer
        return answer.data

    def sessions(self, **wanted: Any) -> list[dict[str, Any]]:
        rows = self.get("/v1/sessions?all=1")["sessions"]
        return [row for row in rows if all(row[key] == value for key, value in wanted.items())]

    def session(self, **wanted: Any) -> dict[str, Any]:
        """The one such session, as soon as there is one."""
        rows = eventually(lambda: self.sessions(**wanted))
        assert len(rows) == 1, rows
        return rows[0]

    def explain(self, id: str) -> Any:
        return self.get(f"/v1/sessions/{id}/explain")

    @contextlib.contextmanager
    def stream(self, last: int | None = None) -> Iterator[Iterator[Any]]:
        connection = Connection(str(self.socket))
        try:
            yield connection.stream("/v1/events", None if last is None else str(last))
        finally:
            connection.close()
