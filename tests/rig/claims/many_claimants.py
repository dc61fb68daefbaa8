"""Many claimants on one daemon, killed at random, and the history of what they were told.

Rules of this file
  1. Times are the kernel's monotonic clock, which all processes of a machine share.
  2. A kill is a death between the signal and the reaping. Every later request must see it. One that had
     ended before the signal came died of itself: after its last answer, and maybe before the signal.
  3. A claimant is its number here, since a pid may be of two. A refusal names a pid: whose it was, their lives tell.
"""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from tests.rig.claims.history_checker import Does, Operation, Says
from tests.rig.daemon.real_daemon import Daemon

SPEAK = 10.0  # seconds between two lines of progress


@dataclass
class Life:
    name: str
    pid: int
    began: float
    over: float = inf


@dataclass
class Claimant:
    life: Life
    process: subprocess.Popen[bytes]
    log: Path


@dataclass
class Campaign:
    daemon: Daemon
    directory: Path
    clients: int = 16
    operations: int = 1000  # in all, if no client is killed
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
    lives: list[Life] = field(default_factory=list)

    def run(self) -> list[Operation]:
        self.directory.mkdir(parents=True, exist_ok=True)
        chance = random.Random(self.seed)
        living: list[Claimant] = []
        left = self.clients + self.kills
        each = self.share or max(5, self.operations // left)
        plan = ["kill"] * self.kills + ["restart"] * self.restarts
        chance.shuffle(plan)
        spoke = time.monotonic()
        try:
            while self.wants_more(left) or living:
                while self.wants_more(left) and len(living) < self.clients:
                    left -= 1
                    living.append(self.start(left, each))
                self.reap(living)
                if time.monotonic() - spoke > SPEAK:
                    spoke = time.monotonic()
                    self.progress(f"claims: {len(self.history):,} of {self.operations:,}")
                if plan and living and self.is_due(len(plan), chance):
                    self.strike(plan.pop(), chance, living)
                time.sleep(0.01)
        finally:
            for claimant in living:
                claimant.process.kill()
                claimant.process.wait()
        return named(self.history, self.lives)

    def wants_more(self, left: int) -> bool:
        return left > 0 if self.share is None else len(self.history) < self.operations

    def is_due(self, planned: int, chance: random.Random) -> bool:
        """At random; where clients follow each other, as many strikes as the share of what is done."""
        if self.share is None:
            return chance.random() < self.pace
        struck = self.kills + self.restarts - planned
        return struck / (self.kills + self.restarts) <= len(self.history) / self.operations

    def start(self, number: int, operations: int) -> Claimant:
        log = self.directory / f"{number}.log"
        items = [f"task:{n}" for n in range(self.items)]
        words = [str(self.daemon.socket), str(log), f"{self.seed}/{number}", str(operations), *items]
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "tests.rig.claims.random_claimant", *words])
        life = Life(f"claimant {number}", process.pid, began)
        self.lives.append(life)
        return Claimant(life, process, log)

    def strike(self, what: str, chance: random.Random, living: list[Claimant]) -> None:
        if what == "restart":
            self.daemon.restart()
            return
        claimant = living.pop(chance.randrange(len(living)))
        called = time.monotonic()
        claimant.process.kill()
        was_killed = claimant.process.wait() == -signal.SIGKILL
        self.bury(claimant, called if was_killed else None)

    def reap(self, living: list[Claimant]) -> None:
        for claimant in [each for each in living if each.process.poll() is not None]:
            living.remove(claimant)
            self.bury(claimant, None)

    def bury(self, claimant: Claimant, killed: float | None) -> None:
        life, log = claimant.life, claimant.log
        life.over = time.monotonic()
        ops = read(log, life.name) if log.exists() else []
        if killed is None:
            assert claimant.process.returncode == 0, f"a claimant failed: {log.read_text()[-500:]}"
        died = killed or max((op.answered for op in ops), default=life.began)
        self.history += [*ops, Operation(life.name, Does.DIE, "", died, life.over)]


def named(history: Iterable[Operation], lives: Iterable[Life]) -> list[Operation]:
    """Refusals name a pid: here its claimant, or anybody where two had that number while the answer was made."""
    owners: dict[str, list[Life]] = {}
    for life in lives:
        owners.setdefault(str(life.pid), []).append(life)
    return [_named(op, owners) for op in history]


def _named(op: Operation, owners: dict[str, list[Life]]) -> Operation:
    could = [
        life for life in owners.get(op.holder or "", ()) if life.began < op.answered and op.called < life.over
    ]
    if not could:
        return op  # no holder, or an impossible one
    return replace(op, holder=could[0].name if len(could) == 1 else None)


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
