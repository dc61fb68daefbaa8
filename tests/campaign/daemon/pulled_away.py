"""Files of ours pulled away under a living daemon, with holders and waiters.

Each round: a daemon in a new home, twenty processes that hold an item each, ten that wait for one of those, and one that takes
item after item. Then one of our files is removed, moved, cut, replaced or made read-only, and somebody uses the tool at once:
a second daemon is started at that path. The daemon that serves in the end must know every claim that was answered, or say that the
store was lost and grant nothing.

The control is the same daemon with its looks switched off.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from headcount.daemon.home import store_marks
from headcount.paths import Places
from tests.campaign.daemon.double_starts import living
from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.security.pull_files_away import PULLS, blind_daemon

ROUNDS = 300
HARMFUL = [("home", "moved"), ("store", "removed"), ("log", "removed"), ("store", "replaced by a copy")]
CONTROL_ROUNDS = len(HARMFUL)
HOLDERS = 20
WAITERS = 10
REACHED_WITHIN = 20.0  # seconds; a busy machine starts a daemon in three
BUSY = (0.0, 0.05)  # seconds of claims before the pull

PROGRAM = """
import json, os, sys, time
from headcount.client.transport.connection import Connection
from headcount.client.faults import ClientFault
for line in sys.stdin:
    socket, item, wait, over = json.loads(line)
    answer = None
    while answer is None and not os.path.exists(over):
        try:
            said = Connection(socket).call("POST", "/v1/claims", {"item": item, "own": True, "wait": wait}, within=60)
            answer = [said.status, said.data]
        except ClientFault:
            time.sleep(0.02)
    print(json.dumps(answer), flush=True)
"""


class Asker:
    """A process that lives for all rounds; each round has a ledger of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, home: Path, item: str, wait: float | None = None) -> None:
        assert self.process.stdin is not None
        words = [str(home / "headcount.sock"), item, wait, str(home.with_name("over"))]
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Taker(threading.Thread):
    """Takes item after item until it is refused or no daemon answers. It holds what was granted."""

    def __init__(self, home: Path) -> None:
        super().__init__(daemon=True)
        self.home = home
        self.taken: list[str] = []
        self.stop = threading.Event()

    def run(self) -> None:
        connection = Connection(str(self.home / "headcount.sock"))
        with suppress(ClientFault):
            while not self.stop.is_set():
                item = f"task:more-{len(self.taken)}"
                if (
                    connection.call("POST", "/v1/claims", {"item": item, "own": True}, within=10).status
                    != 200
                ):
                    break
                self.taken.append(item)
        connection.close()


class Campaign:
    def __init__(
        self, directory: Path, seed: int, make: Callable[[Path], Daemon], first: list[tuple[str, str]]
    ) -> None:
        self.directory = directory
        self.chance = random.Random(seed)
        self.make = make
        self.counts: Counter[str] = Counter()
        self.holders = [Asker() for _ in range(HOLDERS)]
        self.waiters = [Asker() for _ in range(WAITERS)]
        self.deck = first[::-1]

    def close(self) -> None:
        for each in (*self.holders, *self.waiters):
            each.close()

    def round(self) -> None:
        if not self.deck:
            self.deck = [(what, how) for what, hows in PULLS.items() for how in hows]
            self.chance.shuffle(self.deck)
        what, how = self.deck.pop()
        home = self.directory / str(self.counts["rounds"]) / "home"
        first = self.make(home)
        (home / "config.toml").write_text("web_port = 0\n")
        daemons = [first.ready()]
        try:
            self._hold(home)
            taker = Taker(home)
            taker.start()
            time.sleep(self.chance.uniform(*BUSY))
            PULLS[what][how](home)
            self._use(first, daemons)
            taker.stop.set()
            taker.join()
            self._judge(first, daemons, taker.taken)
        finally:
            home.with_name("over").touch()
            for daemon in daemons:
                daemon.stop()
            granted = sum(
                bool(answer) and answer[0] == 200 for answer in [each.hear() for each in self.waiters]
            )
            self.counts["double"] += granted
            store_marks.withdraw(Places.below(str(home)))
            shutil.rmtree(home.parent, ignore_errors=True)
        self.counts["rounds"] += 1
        self.counts[what] += 1

    def _hold(self, home: Path) -> None:
        for number, each in enumerate(self.holders):
            each.ask(home, f"task:{number}")
        assert [each.hear()[0] for each in self.holders] == [200] * HOLDERS
        for number, each in enumerate(self.waiters):
            each.ask(home, f"task:{number}", wait=50)

    def _use(self, first: Daemon, daemons: list[Daemon]) -> None:
        """As the first use of any verb: who is not reached is started, also while the one before has not ended."""
        deadline = time.monotonic() + REACHED_WITHIN
        while time.monotonic() < deadline:
            first.home.parent.mkdir(exist_ok=True)
            daemons.append(
                type(first)(first.home, **{k: v for k, v in first.env.items() if k == "PYTHONPATH"}).start()
            )
            with suppress(ClientFault, AssertionError):
                first.get("/healthz")
                return
        self.counts["unreached"] += 1

    def _judge(self, first: Daemon, daemons: list[Daemon], taken: list[str]) -> None:
        try:
            claims = eventually(lambda: self._asked(first, "/v1/claims"))
        except AssertionError:
            self.counts["unreached"] += 1
            return
        lost = claims.get("loss") is not None
        self.counts["said"] += lost
        pids = {f"task:{number}": each.process.pid for number, each in enumerate(self.holders)}
        pids |= dict.fromkeys(taken, os.getpid())
        known = {row["item"]: row["holder"]["pid"] for row in claims["claims"]}
        if not lost:
            self.counts["silent"] += sum(known.get(item) != pid for item, pid in pids.items())
        elif not any("store was lost" in each for each in self._asked(first, "/v1/status")["warnings"]):
            self.counts["silent"] += 1
        for item in pids:
            body = {"item": item, "own": True}
            if pids[item] == os.getpid():
                continue  # it would only be told that it has it
            with suppress(ClientFault):
                self.counts["double"] += first.call("POST", "/v1/claims", body).status == 200
        with suppress(AssertionError):
            eventually(lambda: len(living(first)) == 1, within=REACHED_WITHIN)
            return
        self.counts["several"] += 1

    @staticmethod
    def _asked(daemon: Daemon, path: str) -> Any:
        try:
            return daemon.get(path)
        except ClientFault:
            return None


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    control_rounds: int = CONTROL_ROUNDS,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        ours = _rounds(Path(directory) / "ours", seed, seconds, progress, rounds, Daemon, [])
        control = _rounds(
            Path(directory) / "control", seed, seconds, progress, control_rounds, blind_daemon, HARMFUL
        )
    rows = (
        Row(f"rounds, {HOLDERS} holders and {WAITERS} waiters in each", f"{ours['rounds']:,}",
            f"{rounds:,}, if there is time"),
        Row("  " + ", ".join(PULLS), " / ".join(f"{ours[what]:,}" for what in PULLS)),
        some("  after which the store was said to be lost", ours["said"]),
        none("ours: items granted to a second process while the first lived", ours["double"]),
        none("ours: granted claims that were lost silently", ours["silent"]),
        none("ours: rounds after which no daemon could be reached", ours["unreached"]),
        none("ours: rounds after which several daemons ran", ours["several"]),
        some("control, without the looks: items granted to a second process", control["double"]),
        some("control, without the looks: claims lost without a word", control["silent"]),
    )  # fmt: skip
    note = (
        "The daemon runs as root here, whom a read-only file does not keep from writing; as another user it says so "
        "(see Disks that fail)."
    )
    return Outcome("pulled_away", "Files pulled away under a living daemon", rows, (note,))


def _rounds(
    directory: Path,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int,
    make: Callable[[Path], Daemon],
    first: list[tuple[str, str]],
) -> Counter[str]:
    began = time.monotonic()
    campaign = Campaign(directory, seed, make, first)
    try:
        while campaign.counts["rounds"] < rounds and time.monotonic() - began < seconds:
            campaign.round()
            if campaign.counts["rounds"] % 10 == 0:
                progress(f"pulled away: round {campaign.counts['rounds']:,} of {rounds:,}")
    finally:
        campaign.close()
    return campaign.counts
