"""Many claimants on one daemon, killed at random, and the history of what they were told.

Rules of this file
  1. Times are the kernel's monotonic clock, which all processes of a machine share.
  2. A kill is a death between the signal and the reaping. Whoever asks after that must find it so.
"""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.daemon import Daemon
from tests.rig.linearizable import Does, Operation, Says

SPEAK = 10.0  # seconds between two lines of progress


@dataclass
class Campaign:
    daemon: Daemon
    directory: Path
    clients: int = 16
    operations: int = 1000  # in all, if nobody is killed
    items: int = 4
    kills: int = 8  # of claimants
    restarts: int = 2  # kill -9 of the daemon
    pace: float = 0.02  # how likely a strike is in each hundredth of a second
    share: int | None = (
        None  # of one client; then others follow until all operations are done, kills spread over them
    )
    seed: int = 1
    progress: Callable[[str], None] = lambda _: None
    history: list[Operation] = field(default_factory=list)

    def run(self) -> list[Operation]:
        self.directory.mkdir(parents=True, exist_ok=True)
        chance = random.Random(self.seed)
        living: dict[int, tuple[subprocess.Popen[bytes], Path]] = {}
        left = self.clients + self.kills
        each = self.share or max(5, self.operations // left)
        plan = ["kill"] * self.kills + ["restart"] * self.restarts
        chance.shuffle(plan)
        spoke = time.monotonic()
        try:
            while self.wants_more(left) or living:
                while self.wants_more(left) and len(living) < self.clients:
                    left -= 1
                    process, log = self.start(left, each)
                    living[process.pid] = (process, log)
                self.reap(living)
                if time.monotonic() - spoke > SPEAK:
                    spoke = time.monotonic()
                    self.progress(f"claims: {len(self.history):,} of {self.operations:,}")
                if plan and living and self.is_due(len(plan), chance):
                    self.strike(plan.pop(), chance, living)
                time.sleep(0.01)
        finally:
            for process, _ in living.values():
                process.kill()
                process.wait()
        return self.history

    def wants_more(self, left: int) -> bool:
        return left > 0 if self.share is None else len(self.history) < self.operations

    def is_due(self, planned: int, chance: random.Random) -> bool:
        """At random; where clients follow each other, as many strikes as the share of what is done."""
        if self.share is None:
            return chance.random() < self.pace
        struck = self.kills + self.restarts - planned
        return struck / (self.kills + self.restarts) <= len(self.history) / self.operations

    def start(self, number: int, operations: int) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.directory / f"{number}.log"
        items = [f"task:{n}" for n in range(self.items)]
        words = [str(self.daemon.socket), str(log), f"{self.seed}/{number}", str(operations), *items]
        return subprocess.Popen([sys.executable, "-m", "tests.rig.claimant", *words]), log

    def strike(
        self, what: str, chance: random.Random, living: dict[int, tuple[subprocess.Popen[bytes], Path]]
    ) -> None:
        if what == "restart":
            self.daemon.restart()
            return
        pid = chance.choice(sorted(living))
        process, log = living.pop(pid)
        called = time.monotonic()
        process.kill()
        process.wait()
        self.bury(pid, log, called)

    def reap(self, living: dict[int, tuple[subprocess.Popen[bytes], Path]]) -> None:
        for pid, (process, log) in list(living.items()):
            if process.poll() is not None:
                assert process.returncode == 0, f"a claimant failed: {log.read_text()[-500:]}"
                del living[pid]
                self.bury(pid, log, None)

    def bury(self, pid: int, log: Path, called: float | None) -> None:
        ops = read(log, str(pid)) if log.exists() else []
        self.history += ops
        last = max((op.called for op in ops), default=0.0)
        self.history.append(Operation(str(pid), Does.DIE, "", called or last, time.monotonic()))


def read(log: Path, process: str) -> list[Operation]:
    found: dict[int, Operation] = {}
    for line in log.read_text().splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue  # killed in the middle of writing it
        number, at = said["n"], said["at"]
        if "does" in said:
            found[number] = Operation(process, Does(said["does"]), said["item"], at, fence=said.get("fence"))
        else:
            call = found[number]
            found[number] = Operation(
                process, call.does, call.item, call.called, at, Says(said["says"]),
                said.get("fence"), said.get("holder"), said["retried"],
            )  # fmt: skip
    return list(found.values())
