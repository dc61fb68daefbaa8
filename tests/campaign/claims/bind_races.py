"""One file behind a bind mount: a process inside and one outside race for it, and one of them gets it.

Each round both ask at about the same moment, hold what they got until both were answered, and give it back. In half of
the rounds both see the file under one name; in the others the inner one sees it under another name and must be refused.

The control is a daemon that takes every path for a path of the host, whichever process names it: the file has two holders.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.rig.agents.in_bwrap import behind
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.naive_ways.broken_ledger import TAKES_ANY_PATH, broken_daemon

RACES = 300
CONTROL_RACES = 20
WINS_LEAST = 5  # of so many rounds of one name each side wins one at least: 30 of 150
APART_MOST = 0.004  # seconds between the two questions
REFUSED = "not-this-hosts"

RACER = """
import json, sys, time
from headcount.client.transport.connection import Connection
line = Connection(sys.argv[1])
for asked in sys.stdin:
    item, at = json.loads(asked)
    if at is None:
        answer = line.call("DELETE", f"/v1/claims/{item}", within=30)
    else:
        while time.monotonic() < at:
            pass
        answer = line.call("POST", "/v1/claims", {"item": item, "own": True}, within=30)
    print(json.dumps([answer.status, answer.data]), flush=True)
"""


class Racer:
    def __init__(self, daemon: Daemon, wrapper: list[str]) -> None:
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, "-c", RACER, str(daemon.socket)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, item: str, at: float | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([item, at]) + "\n")
        self._process.stdin.flush()

    def answer(self) -> tuple[int, Any]:
        assert self._process.stdout is not None
        status, data = json.loads(self._process.stdout.readline())
        return status, data

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


class Campaign:
    """One daemon, a process on the host and one behind the mount."""

    def __init__(self, directory: Path, daemon: Daemon, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        real, other = directory / "real", directory / "other"
        real.mkdir(parents=True)
        other.mkdir()
        (real / "f.txt").write_text("one file")
        self._one_name, self._another = f"path:{real}/f.txt", f"path:{other}/f.txt"
        self._outer = Racer(daemon, [])
        self._inner = Racer(daemon, behind((real, real), (real, other)))

    def race(self, inner: str) -> tuple[bool, bool, Any]:
        """Whether it was granted to each, and what the inner one was told."""
        start = time.monotonic() + 0.005
        apart = self.chance.uniform(-APART_MOST, APART_MOST)
        asked = ((self._outer, self._one_name, max(apart, 0.0)), (self._inner, inner, max(-apart, 0.0)))
        for racer, item, late in asked:
            racer.ask(item, start + late)
        answers = [racer.answer() for racer, _, _ in asked]
        for (racer, item, _), (status, _) in zip(asked, answers, strict=True):
            if status == 200:
                racer.ask(item, None)
                assert racer.answer()[0] == 200
        return answers[0][0] == 200, answers[1][0] == 200, answers[1][1]

    def round(self) -> None:
        outer, inner, _ = self.race(self._one_name)
        self.counts["one name"] += 1
        self.counts["both"] += outer and inner
        self.counts["neither"] += not outer and not inner
        self.counts["outer won"] += outer
        self.counts["inner won"] += inner
        outer, inner, told = self.race(self._another)
        self.counts["two names"] += 1
        self.counts["both"] += outer and inner
        self.counts["outer refused"] += not outer
        self.counts["not refused"] += inner or told.get("error", {}).get("code") != REFUSED

    def close(self) -> None:
        self._outer.close()
        self._inner.close()


def run(
    *, seed: int, seconds: float, progress: Progress, races: int = RACES, control_races: int = CONTROL_RACES
) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as name:
        directory = Path(name)
        with Daemon(directory / "home") as daemon:
            ours = Campaign(directory / "ours", daemon, seed)
            while 2 * ours.counts["one name"] < races and time.monotonic() - began < seconds:
                ours.round()
                if ours.counts["one name"] % 50 == 0:
                    progress(f"bind races: {2 * ours.counts['one name']:,} of {races:,}")
            ours.close()
        with broken_daemon(directory / "broken", TAKES_ANY_PATH) as daemon:
            control = Campaign(directory / "control", daemon, seed)
            for _ in range(control_races // 2):
                control.round()
            control.close()
    return _outcome(ours.counts, control.counts, races)


def _outcome(ours: Counter[str], control: Counter[str], races: int) -> Outcome:
    least = ours["one name"] // WINS_LEAST if races == RACES else 1  # a few show no share
    wins = (ours["outer won"], ours["inner won"])
    rows = (
        Row("races for one file, one process behind a bind mount", f"{ours['one name'] + ours['two names']:,}",
            f"{races:,}, if there is time"),
        Row("  of them where both see it under one name / under two", f"{ours['one name']:,} / {ours['two names']:,}"),
        none("ours: races with two holders", ours["both"]),
        Row("ours: one name: won outside / inside", f"{wins[0]:,} / {wins[1]:,}", f"{least:,} each at least",
            min(wins) >= least),
        none("ours: one name: no caller got it", ours["neither"]),
        none("ours: two names: the inner one not refused with the reason", ours["not refused"]),
        none("ours: two names: the outer one refused", ours["outer refused"]),
        some("control, every path taken for the host's: races with two holders", control["both"]),
    )  # fmt: skip
    return Outcome("bind_races", "One file behind a bind mount", rows)
