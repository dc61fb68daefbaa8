"""Would-be heirs, run as the first process of a pid namespace: processes that share something with the dead holder. See never_inherited.py.

Rules of this file
  1. Holder and heir are real processes that call by themselves; between the two everything is alike that the
     kind of round is about, and nothing else.
  2. Where both can live at once the heir asks while the holder lives, and again after it was killed.
  3. Inherited is: holding without having asked, a grant while the holder lived, a release of what is another's,
     the dead one's fence still current, its request id answered with its grant, or its fence given again.
  4. Now and then the daemon is killed between the death and the heir.
"""

import fcntl
import json
import os
import pty
import random
import signal
import sys
import tempfile
import termios
import time
from collections import Counter
from pathlib import Path
from typing import Any

from headcount.client.transport.connection import Connection
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.naive_ways.broken_ledger import TAKES_ANYBODY, broken_daemon

KINDS = ("conversation", "token", "terminal", "directory", "name", "pid")
RESTART = 0.02  # of the rounds
FIRST_PID = 20_000
TRIES = 20


class Person:
    """A process that asks what it is told to ask, from where it was put."""

    def __init__(
        self, socket: Path, *, at: int | None = None, cwd: Path | None = None, terminal: int | None = None
    ) -> None:
        asked, self._ask = os.pipe()
        self._answer, answered = os.pipe()
        try:
            self.pid = fork_at(at)
        except Taken:
            for fd in (asked, self._ask, self._answer, answered):
                os.close(fd)
            raise
        if self.pid == 0:
            os.close(self._ask)
            os.close(self._answer)
            live(socket, asked, answered, cwd, terminal)
        os.close(asked)
        os.close(answered)
        self.hears = os.fdopen(self._answer, "rb")

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        os.write(self._ask, json.dumps([method, path, body, token]).encode() + b"\n")
        status, data = json.loads(self.hears.readline())
        return status, data

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._ask)
        self.hears.close()


class Taken(Exception):
    """That number is somebody else's for longer: a thread of the daemon may have got it."""


def fork_at(pid: int | None) -> int:
    """A child, with that very number if one is named. Somebody else may take it in between: then again."""
    if pid is None:
        return os.fork()
    for _ in range(TRIES):
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(pid - 1))
        child = os.fork()
        if child in (0, pid):
            if child == 0 and os.getpid() != pid:
                signal.pause()
            return child
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    raise Taken(pid)


def live(socket: Path, asked: int, answered: int, cwd: Path | None, terminal: int | None) -> None:
    if cwd is not None:
        os.chdir(cwd)
    if terminal is not None:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 1)
        os.environ["TERM_SESSION_ID"] = "w0t0p0"
    for line in os.fdopen(asked, "rb"):
        method, path, body, token = json.loads(line)
        connection = Connection(str(socket), f"headcount-session {token}" if token else "")
        answer = connection.call(method, path, body)
        connection.close()
        os.write(answered, json.dumps([answer.status, answer.data]).encode() + b"\n")
    os._exit(0)


class Rounds:
    def __init__(self, directory: Path, seed: int, broken: bool) -> None:
        self.directory = directory
        home = directory / "home"
        self.daemon = (broken_daemon(home, TAKES_ANYBODY) if broken else Daemon(home)).ready()
        self.chance = random.Random(seed)
        self.counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self.nth = 0
        self.item = ""
        self.slave = pty.openpty()[1]

    def run(self, kind: str) -> None:
        """One round that counts."""
        wanted = self.counts[kind]["rounds"] + 1
        while self.counts[kind]["rounds"] < wanted:
            try:
                self.round(kind)
            except Taken:
                self.counts[kind]["taken"] += (
                    1  # there was no heir, or no holder: another number, another round
                )

    def round(self, kind: str) -> None:
        self.nth += 1
        self.item = f"task:heirloom-{self.nth}"
        shared = self.shared(kind)
        holder = Person(self.daemon.socket, **shared)
        token = self.register(holder, kind, first=True)
        fence, request = self.claim(holder)
        heir = None if kind == "pid" else Person(self.daemon.socket, **shared)
        found = []
        if heir is not None:
            if kind != "conversation":  # one that is alive elsewhere cannot be taken up
                self.register(heir, kind, first=False)
            found += self.tries(heir, fence, token if kind == "token" else "")
        holder.kill()
        if self.chance.random() < RESTART:
            self.daemon.restart()
            self.counts[kind]["restarts"] += 1
        heir = heir or Person(self.daemon.socket, at=holder.pid)
        if kind in ("conversation", "pid"):
            self.register(heir, kind, first=False)
        found += self.inherits(heir, fence, request, token if kind == "token" else "")
        self.note(kind, found, holder, heir)
        heir.kill()

    def shared(self, kind: str) -> dict[str, Any]:
        if kind == "pid":
            return {"at": FIRST_PID + self.nth % 50 * 20}
        if kind == "directory":
            return {"cwd": self.directory}
        return {"terminal": self.slave} if kind == "terminal" else {}

    def register(self, person: Person, kind: str, *, first: bool) -> str:
        """The token of the holder. A stranger that carries it has no session of its own."""
        if kind == "token" and not first:
            return ""
        same = self.nth if kind == "conversation" else f"{self.nth}-{'holder' if first else 'heir'}"
        name = "coder" if kind == "name" else ("first" if first else "second")
        asked = {
            "agent": "claude-code", "pid": person.pid, "conversation": f"conv-{same}", "name": name, "launch": first,
        }  # fmt: skip
        answer = self.daemon.call("POST", "/v1/sessions/register", asked)
        assert answer.status == 201, answer
        return Path(answer.data["token_file"]).read_text() if first else ""

    def claim(self, holder: Person) -> tuple[int, str]:
        request = f"request-{self.nth}"
        status, data = holder.ask("POST", "/v1/claims", {"item": self.item, "request": request})
        assert status == 200 and data["granted"] and data["holder"]["pid"] == holder.pid, data
        return data["fence"], request

    def tries(self, heir: Person, fence: int, token: str) -> list[str]:
        """While the holder lives."""
        found = []
        for wish in ({"item": self.item}, {"item": self.item, "own": True}):
            if heir.ask("POST", "/v1/claims", wish, token)[0] == 200:
                found.append("granted beside the holder")
        if heir.ask("DELETE", f"/v1/claims/{self.item}?fence={fence}", None, token)[0] == 200:
            found.append("released what was another's")
        return found

    def inherits(self, heir: Person, fence: int, request: str, token: str) -> list[str]:
        """After the holder's death."""
        found = []
        rows = self.daemon.get("/v1/claims")["claims"]
        if any(row["holder"]["pid"] == heir.pid for row in rows if row["holder"]):
            found.append("held without asking")
        if heir.ask("POST", f"/v1/claims/{self.item}/check", {"fence": fence}, token)[1].get("current"):
            found.append("the dead one's fence was current")
        again = {"item": self.item, "request": request, "own": bool(token)}
        if heir.ask("POST", "/v1/claims", again, token)[0] == 200:
            found.append("the dead one's request was answered")
        if token and heir.ask("POST", "/v1/claims", {"item": self.item}, token)[0] == 200:
            found.append("the dead one's token was good")
        status, data = heir.ask("POST", "/v1/claims", {"item": self.item, "own": bool(token)})
        if status != 200 or data["fence"] <= fence:
            found.append("no claim of its own with a higher fence")
        return found

    def note(self, kind: str, found: list[str], holder: Person, heir: Person) -> None:
        counts = self.counts[kind]
        counts["rounds"] += 1
        counts["inherited"] += bool(found)
        for what in found:
            counts[what] += 1
        counts["same_pid"] += holder.pid == heir.pid


def main(rounds: int, seed: int, seconds: float, broken: bool) -> None:
    began = spoke = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        all_rounds = Rounds(Path(directory), seed, broken)
        try:
            for nth in range(rounds):
                if time.monotonic() - began > seconds:
                    break
                for kind in KINDS:
                    all_rounds.run(kind)
                if time.monotonic() - spoke > 5:
                    spoke = time.monotonic()
                    print(json.dumps({"at": f"never inherited: {nth + 1:,} of {rounds:,}"}), flush=True)
        finally:
            all_rounds.daemon.stop()
    print(json.dumps({kind: dict(counts) for kind, counts in all_rounds.counts.items()}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "broken")
