"""Upgrades in place under living agents, holders and waiters: nothing is lost, and nothing is freed early.

Each round changes the code of an installation without changing its version, as a `git pull` in a checkout does, and then runs a
command. The command replaces the daemon. Afterwards every agent has the same row, every holder the same fence, and every
waiter still waits; then one holder releases, and the waiter behind it must be the next to get that item.

The control compares versions alone, as before there were builds: the old code goes on.
"""

import json
import random
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.installation import Installation
from tests.rig.daemon.real_daemon import eventually

ROUNDS = 50
AGENTS = 4
ITEMS = tuple(f"task:U-{number}" for number in range(5))

VERSION_ALONE = "and came is not None and came.build == build_and_namespaces.installed()"
"""The comparison without which an upgrade under the same version goes unseen."""


class Campaign:
    def __init__(self, directory: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.installed = Installation(directory, directory / "home")
        self.installed.run("up")
        self.agents = [Agent(directory / "agents") for _ in range(AGENTS)]
        for each in self.agents:
            each.hook(self.installed.home / "mailbox", "SessionStart", source="startup")
        self.holds: dict[str, list[subprocess.Popen[bytes]]] = {
            item: [self._hold(item), self._hold(item)] for item in ITEMS
        }
        eventually(lambda: len(self._claims()) == len(ITEMS), within=60)
        eventually(lambda: len(self._rows()) == AGENTS, within=60)

    def round(self) -> None:
        rows, claims, pid = self._rows(), self._claims(), self._pid()
        self.installed.upgrade(f"round {self.counts['rounds']}")
        self.installed.run("ps")
        self.counts["rounds"] += 1
        self.counts["old code goes on"] += self._pid() == pid
        self.counts["rows"] += len(rows)
        self.counts["rows lost or changed"] += rows != self._rows()
        after = self._claims()
        self.counts["claims"] += len(claims)
        self.counts["claims lost or freed early"] += sum(after.get(item) != claims[item] for item in claims)
        ended = [each for both in self.holds.values() for each in both if each.poll() is not None]
        self.counts["holders or waiters that ended"] += len(ended)
        self._pass_on(self.chance.choice(ITEMS), claims)

    def _pass_on(self, item: str, claims: dict[str, tuple[int, int]]) -> None:
        """One of the two ends; the other must have the item, with a higher fence."""
        fence, _ = claims[item]
        first, second = self.holds[item]
        if not self._is_holder(first, claims[item]):
            first, second = second, first
        first.terminate()
        first.wait(30)
        try:
            eventually(lambda: self._claims().get(item, (0, 0))[0] > fence, within=30)
        except AssertionError:
            self.counts["waiters that never got it"] += 1
        self.holds[item] = [second, self._hold(item)]
        self.counts["passed on"] += 1

    def _is_holder(self, hold: "subprocess.Popen[bytes]", claim: tuple[int, int]) -> bool:
        return hold.pid == claim[1]

    def _hold(self, item: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.installed.command("hold", item, "--wait", "600", "--", "sleep", "600"),
            env=self.installed.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _json(self, *words: str) -> Any:
        return json.loads(self.installed.run(*words, "--json").out)

    def _pid(self) -> int:
        return int(self._json("status")["pid"])

    def _claims(self) -> dict[str, tuple[int, int]]:
        """Fence and pid of each holder."""
        found = self._json("claims")["claims"]
        return {each["item"]: (each["fence"], each["holder"]["pid"]) for each in found}

    def _rows(self) -> list[tuple[str, int, str]]:
        ours = {each.pid for each in self.agents}
        return sorted(
            (row["id"], row["pid"], row["liveness"])
            for row in self._json("ps")["sessions"]
            if row["pid"] in ours
        )

    def close(self) -> None:
        for both in self.holds.values():
            for each in both:
                each.terminate()
                each.wait(30)
        for agent in self.agents:
            agent.close()
        self.installed.run("down")


def run(*, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        try:
            while campaign.counts["rounds"] < rounds and time.monotonic() - began < seconds:
                campaign.round()
                progress(f"upgrades: round {campaign.counts['rounds']} of {rounds}")
        finally:
            campaign.close()
        control = _control(Path(directory) / "control")
    counts = campaign.counts
    return Outcome("upgrades", "Upgrades in place", (
        Row("rounds", f"{counts['rounds']:,}", f"{rounds:,}, if there is time"),
        Row(f"  rows of {AGENTS} agents, claims of {len(ITEMS)} holders looked at",
            f"{counts['rows']:,}, {counts['claims']:,}"),
        none("ours: rounds after which the old code went on", counts["old code goes on"]),
        none("ours: rounds in which a row was lost or changed", counts["rows lost or changed"]),
        none("ours: claims that were lost or freed early", counts["claims lost or freed early"]),
        none("ours: holders or waiters that ended", counts["holders or waiters that ended"]),
        none("ours: waiters that never got what was released", counts["waiters that never got it"]),
        some("items passed on from a holder to its waiter", counts["passed on"]),
        some("control, versions alone are compared: rounds after which the old code went on", control),
    ))  # fmt: skip


def _control(directory: Path) -> int:
    directory.mkdir()
    installed = Installation(directory, directory / "home")
    reach = installed.package / "client" / "daemon_access.py"
    text = reach.read_text()
    assert VERSION_ALONE in text
    reach.write_text(text.replace(VERSION_ALONE, ""))
    try:
        installed.run("up")
        before = installed.run("status", "--json").out
        installed.upgrade("control")
        installed.run("ps")
        after = installed.run("status", "--json").out
        return int(json.loads(before)["pid"] == json.loads(after)["pid"])
    finally:
        installed.run("down")
