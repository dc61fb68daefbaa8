"""Reuse over restarts, run as the first process of a pid namespace. See pid_reuse_restarts.py.

Rules of this file
  1. Pids are given out only while no daemon runs: its threads take numbers too.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.rig.agents.crowd import Member, program
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually

FIRST = 5_000
AGENTS = 50
STAY = 5  # live on through the restart


class Round:
    def __init__(self, home: Path, daemon: Daemon, chance: random.Random, counts: Counter[str]) -> None:
        self._program = program(home)
        self._daemon = daemon
        self._chance = chance
        self._counts = counts

    def run(self) -> None:
        members = [self._spawn(FIRST + nth) for nth in range(AGENTS)]
        self._daemon.ready()
        before = self._introduce(members)
        self._daemon.kill()
        staying = set(self._chance.sample(range(AGENTS), STAY))
        old = {nth: member for nth, member in enumerate(members) if nth not in staying}
        for member in old.values():
            member.kill()
            member.reap()
        new = {nth: self._spawn(FIRST + nth) for nth in old}
        self._daemon.ready()
        for member in new.values():
            drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        self._judge(before, members, staying, old, new)
        self._daemon.stop()
        for member in [*new.values(), *(members[nth] for nth in staying)]:
            member.kill()
            member.reap()

    def _spawn(self, pid: int) -> Member:
        member = Member(self._program, self._counts["spawned"], at=pid)
        self._counts["spawned"] += 1
        member.learn_stat()
        return member

    def _introduce(self, members: list[Member]) -> dict[str, str]:
        """Conversation to session id, once all are bound."""
        for member in members:
            drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        return eventually(lambda: self._bound({member.conversation for member in members}), within=30)

    def _bound(self, wanted: set[str]) -> dict[str, str]:
        rows = self._rows()
        ids = {row["conversation"]: row["id"] for row in rows if row["liveness"] == "alive"}
        return ids if wanted <= set(ids) else {}

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._daemon.get("/v1/sessions?all=1")["sessions"]
        return rows

    def _judge(
        self,
        before: dict[str, str],
        members: list[Member],
        staying: set[int],
        old: dict[int, Member],
        new: dict[int, Member],
    ) -> None:
        eventually(lambda: self._bound({member.conversation for member in new.values()}), within=30)
        by_id = {row["id"]: row for row in self._rows()}
        for nth, member in old.items():
            row = by_id[before[member.conversation]]
            self._counts["reuses"] += 1
            self._counts["dead_alive"] += row["liveness"] != "ended"
            self._counts["pid_fooled"] += os.path.exists(f"/proc/{member.pid}")
            self._counts["start_fooled"] += _start(member.stat) == _start(new[nth].stat)
        for nth in staying:
            self._counts["living_dead"] += by_id[before[members[nth].conversation]]["liveness"] != "alive"
        for member in new.values():
            mine = [row for row in by_id.values() if row["conversation"] == member.conversation]
            self._counts["inherited"] += any(row["id"] in before.values() for row in mine)
        self._counts["restarts"] += 1


def _start(stat: bytes) -> bytes:
    return stat.rpartition(b") ")[2].split()[19]


def main(reuses: int, seed: int, seconds: float) -> None:
    counts: Counter[str] = Counter()
    chance = random.Random(seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        home = Path(directory)
        daemon = Daemon(home / "home")
        while counts["reuses"] < reuses and time.monotonic() - began < seconds:
            Round(home, daemon, chance, counts).run()
            print(
                json.dumps({"at": f"pid reuse over restarts: {counts['reuses']:,} of {reuses:,}"}), flush=True
            )
    names = ("reuses", "restarts", "dead_alive", "living_dead", "inherited", "pid_fooled", "start_fooled")
    print(json.dumps({name: counts[name] for name in names}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
