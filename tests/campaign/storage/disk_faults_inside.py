"""Faults of the disk, run as the first process of namespaces of its own. See disk_faults.py.

Rules of this file
  1. A disk is a small file system in memory that is mounted here and nowhere else; errors of single calls are injected.
  2. The daemon is the real one with shorter waits (altered.py): how long it waits before it tries again is not what counts.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from headcount.client.faults import ClientFault
from tests.campaign.storage.disk_fault_kinds import FAULTS, Fault
from tests.campaign.storage.disk_fault_load import Reports, Told
from tests.campaign.storage.store_from_outside import journal_labels, whole
from tests.rig.agents.crowd import Crowd, Member
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways.broken_ledger import BROKEN, broken_daemon

AGENTS = 5
TIMES = {"COMMIT_RETRY_MOST": 0.4, "SETTLE_WITHIN": 1.0, "POLL_EVERY": 0.3}
EARLY = next(how for how in BROKEN if "answers" in how)
LASTS = (0.3, 1.2)  # seconds
KILL = 0.4
WITHIN = 25.0
NAIVE_WITHIN = 1.5  # the naive daemon says nothing, and need not be waited for


def altered_daemon(home: Path) -> Daemon:
    daemon = Daemon(home, **altered.environment(**TIMES))
    daemon.wrapper = altered.WRAPPER
    return daemon


class Round:
    """One daemon on one disk, one fault."""

    def __init__(
        self, home: Path, kind: str, chance: random.Random, counts: Counter[str], *, naive: bool
    ) -> None:
        self.counts = counts
        self.examples: list[str] = []
        self._chance = chance
        self._kind = kind
        self._within = NAIVE_WITHIN if naive else WITHIN
        self._disk = home / "disk"
        self._disk.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=2000,mode=700", "none", self._disk], check=True
        )
        self._daemon = broken_daemon(self._disk, EARLY) if naive else altered_daemon(self._disk)
        self._crowd = Crowd(home / "agents", AGENTS)
        self._ids: dict[str, str] = {}
        self._fences: dict[str, int] = {}
        self.answered: set[str] = set()
        self.lost = 0

    def run(self) -> None:
        try:
            self._run()
        finally:
            self._daemon.stop()
            self._crowd.__exit__()
            subprocess.run(["umount", "-l", self._disk], check=False)

    def _run(self) -> None:
        self._daemon.ready()
        for member in self._crowd.members:
            drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        eventually(self._all_alive, within=WITHIN)
        for member in self._crowd.members[:2]:
            self._claim(member)
        dying = self._crowd.members.pop()
        told, reports = Told(self._daemon), Reports(self._daemon, self._crowd.members[:2], self._chance)
        fault = FAULTS[self._kind](self._daemon, self._crowd, self._chance)
        try:
            is_killed = self._fault(fault, dying)
        except ClientFault as deaf:
            is_killed = False
            self._wrong("stuck", f"{deaf} {_state_of(self._daemon.pid)}")
            fault.end()
        finally:  # a thread that goes on would keep us from ending
            self.answered, refused = reports.end()
            seqs = told.end()
        self.counts["rounds"] += 1
        self.counts["killed"] += is_killed
        self.counts["answered"] += len(self.answered)
        self.counts["refused"] += refused
        self.counts["told"] += len(seqs)
        self._judge(dying, seqs)

    def _fault(self, fault: Fault, dying: Member) -> bool:
        """From its beginning to what comes after it; whether there was a kill in its middle."""
        fault.begin()
        dying.kill()
        dying.reap()
        try:
            eventually(fault.is_said, within=self._within)
        except AssertionError:
            self._wrong("unsaid", f"{self._daemon.get('/v1/status')['warnings']}")
        self._claim(self._crowd.members[2])
        time.sleep(self._chance.uniform(*LASTS))
        is_killed = self._chance.random() < KILL
        if is_killed:
            self._daemon.kill()
            if not fault.is_refused_at_a_start():
                self._wrong("unsaid", f"a start said {self._daemon.word!r}")
        fault.end()
        if is_killed:
            self._daemon.ready()
        try:
            eventually(lambda: self._daemon.get("/healthz")["ok"] and fault.is_over(), within=self._within)
            eventually(lambda: self._post("after"), within=self._within)
        except AssertionError as late:
            self._wrong("stuck", str(late))
        return is_killed

    def _judge(self, dying: Member, seqs: set[int]) -> None:
        try:
            eventually(
                lambda: self._daemon.sessions(id=self._ids[dying.conversation], liveness="ended"),
                within=self._within,
            )
        except AssertionError:
            self._wrong("dead_alive", dying.conversation)
        self._daemon.kill()
        store = self._disk / "headcount.db"
        self.lost = len(self.answered - journal_labels(store))
        if self.lost:
            self._wrong("lost", f"{self.lost} of {len(self.answered)}", self.lost)
        missing = seqs - _numbers(store)
        if missing:
            self._wrong("told_lost", str(sorted(missing)[:5]), len(missing))
        self.counts["damaged"] += not whole(store)
        self._daemon.ready()
        if self._daemon.get("/v1/status")["store"]["set_aside"]:
            self._wrong("damaged", "set aside")
        try:
            eventually(lambda: self._all_alive() and self._all_held(), within=self._within)
        except AssertionError:
            self._wrong("evicted", str(self._fences))

    def _wrong(self, name: str, example: str, count: int = 1) -> None:
        self.counts[name] += count
        self.examples.append(f"{self._kind}: {name}: {example}")

    # --- asking ------------------------------------------------------------------------------------

    def _all_alive(self) -> bool:
        rows = {row["conversation"]: row for row in self._daemon.sessions()}
        wanted = [member.conversation for member in self._crowd.members]
        if not all(rows.get(each, {}).get("liveness") == "alive" for each in wanted):
            return False
        now = {each: rows[each]["id"] for each in wanted}
        same = all(self._ids.get(each, id) == id for each, id in now.items())
        self._ids.update(now)
        return same

    def _all_held(self) -> bool:
        held = {each["item"]: each["fence"] for each in self._daemon.get("/v1/claims")["claims"]}
        return all(held.get(item) == fence for item, fence in self._fences.items())

    def _claim(self, member: Member) -> None:
        """What was granted must be held from then on; a refusal is an answer too."""
        wish = {"item": f"task:{member.conversation}", "as": self._ids[member.conversation]}
        try:
            answer = self._daemon.call("POST", "/v1/claims", wish)
        except ClientFault:
            return
        if answer.status == 200 and answer.data["granted"]:
            self._fences[wish["item"]] = answer.data["fence"]

    def _post(self, word: str) -> bool:
        said = {"session_id": self._crowd.members[0].conversation, "hook_event_name": "Stop", "word": word}
        try:
            return self._daemon.call("POST", "/v1/hooks/claude-code", said).status == 202
        except ClientFault:
            return False


def _state_of(pid: int) -> str:
    """What can be seen of one that does not answer."""
    process = Path(f"/proc/{pid}")
    limit = next(line for line in (process / "limits").read_text().splitlines() if "open files" in line)
    used = [os.readlink(each) for each in (process / "fd").iterdir()]
    return f"waits in {(process / 'wchan').read_text()}; {limit.split()[3]} descriptors, used: {sorted(used)}"


def _numbers(store: Path) -> set[int]:
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return {seq for (seq,) in connection.execute("SELECT seq FROM events")}
    finally:
        connection.close()


def main(rounds: int, seed: int, seconds: float, kinds: list[str], control_rounds: int) -> None:
    began, chance = time.monotonic(), random.Random(seed)
    counts: Counter[str] = Counter()
    by_kind: Counter[str] = Counter()
    examples: list[str] = []
    naive_lost = 0
    for nth in range(control_rounds):
        with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
            control = Round(Path(directory), "EIO", random.Random(seed + nth), Counter(), naive=True)
            control.run()
            naive_lost += control.lost
    for nth in range(rounds):
        if time.monotonic() - began > seconds:
            break
        kind = kinds[nth % len(kinds)]
        with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
            one = Round(Path(directory), kind, chance, counts, naive=False)
            one.run()
        by_kind[kind] += 1
        examples += one.examples
        print(json.dumps({"at": f"disks that fail: {nth + 1} of {rounds}, {kind}"}), flush=True)
    names = ("rounds", "killed", "answered", "refused", "told", "lost", "told_lost", "unsaid", "stuck")
    names += ("evicted", "dead_alive", "damaged")
    result: dict[str, Any] = {name: counts[name] for name in names}
    print(
        json.dumps({**result, "kinds": by_kind, "naive_lost": naive_lost, "examples": examples[:8]}),
        flush=True,
    )


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", f"{altered.ROOT / 'src'}:{altered.ROOT}")
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4].split(","), int(sys.argv[5]))
