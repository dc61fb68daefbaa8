"""Damaged stores: bits flipped, pages zeroed, swapped or garbled, files cut short, logs full of garbage.

Each start must serve exactly what was committed, or set the damaged file aside, keep it, say so and begin anew; never wrong
rows in silence, never a crash, never a loop of starts. Most are opened by the real store in a process of its own
(corruptions_inside.py), some by a real daemon with living agents, who must be found again. The control opens the same files
without a check.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaign.in_pid_namespace import ROOT
from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.campaign.storage.corruption_kinds import DAMAGES, Files
from tests.campaign.storage.store_from_outside import in_memory
from tests.rig.agents.crowd import Crowd
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually

DAMAGES_WANTED = 1_000
STARTS = 48  # of a real daemon
AGENTS = 4
SAID_BEFORE = 60  # reports that make a store worth damaging


def run(
    *, seed: int, seconds: float, progress: Progress, damages: int = DAMAGES_WANTED, starts: int | None = None
) -> Outcome:
    began = time.monotonic()
    with in_memory() as home:
        wanted = min(STARTS, max(1, damages // 20)) if starts is None else starts
        daemon = Starts(home / "daemon", seed)
        try:
            daemon.run(wanted, seconds / 2, progress)
        finally:
            daemon.close()
        found = _inside(
            damages, seed, max(1.0, seconds - (time.monotonic() - began)), home / "stores", progress
        )
    found["examples"] += daemon.examples
    return _outcome(found, daemon.counts, damages, wanted)


def _inside(damages: int, seed: int, seconds: float, home: Path, progress: Progress) -> dict[str, Any]:
    argv = [
        sys.executable,
        "-m",
        "tests.campaign.storage.corruptions_inside",
        str(damages),
        str(seed),
        str(seconds),
        str(home),
    ]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
    last: dict[str, Any] = {"counts": {}, "examples": []}
    with subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            last = json.loads(line)
            if "at" in last:
                progress(last["at"])
    return {**last, "died": child.returncode != 0}


class Starts:
    """A real daemon, started over damaged files of its own while its agents live."""

    def __init__(self, home: Path, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self._chance = random.Random(seed)
        self._daemon = Daemon(home / "home")
        self._store = home / "home" / "headcount.db"
        self._crowd = Crowd(home / "agents", AGENTS)
        self._files = self._used()

    def _used(self) -> Files:
        """What a daemon that heard of all of them leaves when it is killed."""
        self._daemon.ready()
        for member in self._crowd.members:
            drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        eventually(lambda: self._alive() == AGENTS and self._is_drained(), within=30)
        for nth in range(SAID_BEFORE):  # one by one: each is a commit of its own
            said = {"hook_event_name": "PreToolUse", "tool_name": f"Tool{nth}"}
            said["session_id"] = self._crowd.members[nth % AGENTS].conversation
            assert self._daemon.call("POST", "/v1/hooks/claude-code", said).status == 202
        self._ids = {row["conversation"]: row["id"] for row in self._rows()}
        self._daemon.kill()
        return Files(self._store.read_bytes(), self._store.with_name("headcount.db-wal").read_bytes())

    def run(self, starts: int, seconds: float, progress: Progress) -> None:
        began = time.monotonic()
        order = self._chance.sample(DAMAGES, len(DAMAGES))
        for nth in range(starts):
            if time.monotonic() - began > seconds:
                break
            damage = order[nth % len(order)]
            self._start(damage(self._files, self._chance), damage.__name__)
            progress(f"corruptions: start {nth + 1} of {starts} of a real daemon")

    def _start(self, damaged: Files, how: str) -> None:
        for path in self._store.parent.glob("headcount.db*"):
            path.unlink()
        self._store.write_bytes(damaged.database)
        self._store.with_name("headcount.db-wal").write_bytes(damaged.log)
        self.counts["starts"] += 1
        self._daemon.start()
        if self._daemon.word.startswith("failed: "):
            self.counts["refused"] += 1
            self.counts["not_kept"] += self._store.read_bytes() != damaged.database
            assert self._daemon.process is not None
            self._daemon.process.wait()  # until then it has the lock, and the next one is told so
            return
        try:
            self._judge()
        except AssertionError as wrong:
            self.counts["wrong"] += 1
            self.examples.append(f"a daemon over {how}: {wrong}")
        self._daemon.kill()

    def _judge(self) -> None:
        assert self._daemon.word == "ready", self._daemon.word
        eventually(lambda: self._alive() == AGENTS, within=20)  # from the rows, or by the census
        status = self._daemon.get("/v1/status")
        aside = status["store"]["set_aside"]
        self.counts["aside" if aside else "served"] += 1
        if aside:
            assert Path(aside).exists(), "the damaged file is gone"
            assert any("set aside" in each for each in status["warnings"]), status["warnings"]
        else:
            ids = {row["conversation"]: row["id"] for row in self._rows()}
            assert ids == self._ids, "sessions under other ids"
        assert self._daemon.process is not None and self._daemon.process.poll() is None

    def _rows(self) -> list[dict[str, Any]]:
        pids = {member.pid for member in self._crowd.members}
        return [row for row in self._daemon.get("/v1/sessions")["sessions"] if row["pid"] in pids]

    def _alive(self) -> int:
        return sum(row["liveness"] == "alive" for row in self._rows())

    def _is_drained(self) -> bool:
        return not [name for name in os.listdir(self._daemon.mailbox) if not name.startswith(".")]

    def close(self) -> None:
        self._daemon.stop()
        self._crowd.__exit__()


def _outcome(found: dict[str, Any], starts: Counter[str], damages: int, wanted: int) -> Outcome:
    counts: Counter[str] = Counter(found["counts"])
    rows = (
        Row(
            "stores damaged, each in its own way", f"{counts['damages']:,}", f"{damages:,}, if there is time"
        ),
        Row("  served as they were committed, to the last field", f"{counts['right']:,}"),
        Row("  set aside, and begun anew", f"{counts['aside']:,}"),
        Row("  served without the log's last commit, which alone was broken", f"{counts['earlier']:,}"),
        Row("  refused untouched, with a message (an unknown version)", f"{counts['refused']:,}"),
        none(
            "ours: wrong rows, or rows of long ago, served in silence", counts["wrong"] + counts["long ago"]
        ),
        none("ours: starts that crashed", counts["crash"] + found["died"]),
        none("ours: starts without an end", counts["loop"]),
        none(
            "ours: damaged files that were not kept to the last byte", counts["not_kept"] + starts["not_kept"]
        ),
        Row(
            "starts of a real daemon over damaged files",
            f"{starts['starts']:,}",
            f"{wanted:,}, if there is time",
        ),
        Row(
            "  served / set aside and said / refused",
            f"{starts['served']} / {starts['aside']} / {starts['refused']}",
        ),
        none("ours: living agents not found again, ids changed, or not said", starts["wrong"]),
        some("control, opened without a check: wrong rows served", counts["naive_wrong"]),
        some("control, opened without a check: starts that crashed", counts["naive_crash"]),
    )
    notes = (
        "What cannot be seen: a log whose last commit alone is broken or missing, and a page that a disk gave back as it was before.",
        *found["examples"],
    )
    return Outcome("corruptions", "Damaged stores", rows, notes)
