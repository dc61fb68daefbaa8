"""The stage: the real CLI in a home of its own, a real daemon that watches that home, and what it told when.

Rules of this file
  1. The daemon's HOME is the CLI's, so that it finds the registry as it does on anybody's machine.
  2. Times are taken when a row arrives on the event stream: what a person who watches would see.
  3. What is noted as a figure is printed at the end of the run; no test stands or falls with a few milliseconds.

Not here: running the CLI (claude.py), the daemon (real_daemon.py).
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.scripted_api import Step, script
from tests.rig.real_agents.claude import DEAF, Claude, Tui
from tests.rig.waiting import wait_for

Row = dict[str, Any]
FIGURES: dict[str, list[float]] = {}


def note(what: str, seconds: float) -> None:
    FIGURES.setdefault(what, []).append(seconds)


class Seen(NamedTuple):
    at: float
    row: Row
    type: str


class Feed:
    """The event stream in a thread, each row stamped on its arrival."""

    def __init__(self, socket: Path, below: Path) -> None:
        self._below = str(below.resolve())  # only what runs there: a machine has other agents
        self._connection = Connection(str(socket))
        self._stream = self._connection.stream("/v1/events", None)
        self._seen: list[Seen] = []
        self._news = threading.Condition()
        self._take(next(self._stream))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for event in self._stream:
                self._take(event)
        except (OSError, ClientFault, ValueError):
            return  # the daemon went away

    def _take(self, event: Any) -> None:
        at, data = time.time(), json.loads(event.data)
        rows = data["sessions"] if event.type == "snapshot" else [data.get("session")]
        with self._news:
            self._seen += [Seen(at, row, event.type) for row in rows if row and self._is_ours(row)]
            self._news.notify_all()

    def _is_ours(self, row: Row) -> bool:
        return (row["cwd"] or "").startswith(self._below)

    def mark(self) -> int:
        """A place in the stream: later words only."""
        return len(self._seen)

    def rows(self, since: int = 0) -> list[Seen]:
        return self._seen[since:]

    def wait(
        self, fits: Callable[[Row], bool], *, since: int = 0, within: float = 20.0, what: str = ""
    ) -> Seen:
        until = time.monotonic() + within
        at = since
        with self._news:
            while True:
                while at < len(self._seen):
                    if fits(self._seen[at].row):
                        return self._seen[at]
                    at += 1
                left = until - time.monotonic()
                if left <= 0 or not self._news.wait(left):
                    told = [short(each.row) for each in self._seen[since:]]
                    raise AssertionError(f"{what or 'a row'}: not within {within} s; told since: {told}")

    def close(self) -> None:
        """After the daemon: its end ends the stream."""
        self._thread.join(10)
        self._connection.close()


def short(row: Row) -> str:
    ended = row["ended"]["because"] if row["ended"] else ""
    words = (
        row["pid"],
        row["activity"],
        row["waiting_on"],
        row["doing"],
        row["source"],
        row["liveness"],
        ended,
    )
    return f"{(row['conversation'] or '-')[:8]}:" + " ".join(str(each) for each in words if each)


def is_like(row: Row, wanted: dict[str, Any]) -> bool:
    return all(row[key] == value for key, value in wanted.items())


@dataclass
class Stage:
    claude: Claude
    daemon: Daemon
    feed: Feed = field(init=False)

    def __enter__(self) -> "Stage":
        self.daemon.ready()
        self.feed = Feed(self.daemon.socket, self.claude.place)
        return self

    def __exit__(self, *_: object) -> None:
        self.daemon.stop()
        self.feed.close()

    def kill_daemon(self) -> None:
        self.daemon.kill()
        self.feed.close()

    def start_daemon(self) -> None:
        self.daemon.ready()
        self.feed = Feed(self.daemon.socket, self.claude.place)

    # --- what is known ---------------------------------------------------------------------------------

    def wait_row(self, *, since: int = 0, within: float = 20.0, **wanted: Any) -> Seen:
        return self.feed.wait(lambda row: is_like(row, wanted), since=since, within=within, what=str(wanted))

    def rows(self, **wanted: Any) -> list[Row]:
        """Of this home, oldest first."""
        below = str(self.claude.place.resolve())
        rows = [row for row in self.daemon.sessions(**wanted) if (row["cwd"] or "").startswith(below)]
        return sorted(rows, key=lambda row: (row["started_at"], row["id"]))

    def row(self, **wanted: Any) -> Row:
        """The one such row as it is now."""
        rows = self.rows(**wanted)
        assert len(rows) == 1, (wanted, [short(each) for each in rows])
        return rows[0]

    def current(self, pid: int) -> Row:
        """What that process hosts now."""
        rows = [row for row in self.daemon.sessions(pid=pid) if not row["ended"]]
        assert len(rows) == 1, [short(each) for each in self.daemon.sessions(pid=pid)]
        return rows[0]

    def ended(self, id: str, within: float = 20.0) -> Row:
        """The end of that session, once it is told."""
        end: Row = eventually(lambda: self.daemon.sessions(id=id, liveness="ended"), within)[0]
        return end

    def settles(self, pid: int, within: float = 20.0, **wanted: Any) -> Row:
        """The current row of that process, once it is like that."""
        try:
            return eventually(
                lambda: next(
                    (
                        row
                        for row in self.daemon.sessions(pid=pid)
                        if not row["ended"] and is_like(row, wanted)
                    ),
                    None,
                ),
                within,
            )
        except AssertionError:
            now = [short(row) for row in self.daemon.sessions(pid=pid)]
            raise AssertionError(f"{pid} never {wanted}; now {now}") from None

    # --- what a user does ------------------------------------------------------------------------------

    def open(self, *arguments: str, **wanted: Any) -> tuple[Tui, Row]:
        """A TUI at its prompt, and its row."""
        tui = self.claude.open_tui(*arguments)
        return tui, self.settles(tui.pid, **(wanted or {"activity": "idle"}))

    def ask(self, tui: Tui, *steps: Step) -> None:
        tui.type(script(*steps))

    def turn(self, tui: Tui, *steps: Step, then: str = "done") -> Row:
        """A whole turn, to its end."""
        since = self.feed.mark()
        self.ask(tui, *steps)
        self.wait_row(since=since, pid=tui.pid, activity="working")
        return self.settles(tui.pid, activity=then)

    def press(self, tui: Tui, *keys: str) -> float:
        """The moment at which the keys were sent."""
        at = time.time()
        tui.keys(*keys)
        return at

    def wait_hearing(self, tui: Tui) -> None:
        """A dialog is open; soon it will also take keys. Nothing shows when."""
        tui.wait_still(0.2)
        time.sleep(DEAF)

    def hooks(self, action: str = "install") -> str:
        """By the command line, as a person does it."""
        command = [sys.executable, "-m", "headcount", "hooks", action]
        done = subprocess.run(command, env=self.daemon.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
        return done.stdout


def stage(claude: Claude, place: Path, **env: str) -> Stage:
    return Stage(claude, Daemon(place / "headcount", **{"HOME": str(claude.home), **env}))


def wait_file(path: Path, within: float = 30.0) -> float:
    """The moment at which a file appears."""
    wait_for(f"{path.name}", path.exists, within, every=0.002)
    return time.time()


def ancestors_of(pid: int) -> list[int]:
    found = []
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(pid)
    return found


def command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


def processes_of(claude: Claude) -> list[int]:
    """Every living process whose environment has that isolated home: what a test must leave behind it ended."""
    mark = f"HOME={claude.home}".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in environment:
                found.append(int(name))
    return sorted(found)


def sweep(claude: Claude) -> None:
    """Ends what the CLI left in that home: its background service, spares, and children of a killed one."""

    def left() -> bool:
        pids = processes_of(claude)
        for pid in pids:
            try:
                fd = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                if pid in processes_of(claude):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
            except OSError:
                pass
            finally:
                os.close(fd)
        return not pids

    wait_for("the end of what the CLI left", left, 20, every=0.05)
