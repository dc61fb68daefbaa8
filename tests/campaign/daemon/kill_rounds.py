"""kill -9 on the daemon under load, again and again.

Each round: agents report through HTTP and through the mailbox, the daemon is killed at a random moment, some agents end
while it is away, and it is started again. Then: whatever was answered is in the journal, whatever was dropped is too, the
store is whole, the living are kept under their ids, the dead are found.

The control is the same load on a store that answers before it has written: it must lose what was answered.
"""

import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.daemon.report_load import Load
from tests.campaign.outcome import Outcome, Progress, Row
from tests.campaign.storage.store_from_outside import journal_labels, late_writer_loses, whole
from tests.rig.agents.crowd import Crowd, Member
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually

ROUNDS = 500
AGENTS = 12
DIE = 2
BUSY = (0.02, 0.5)  # seconds of load before the kill


class Campaign:
    def __init__(self, home: Path, seed: int) -> None:
        self.home = home
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.ready: list[float] = []
        self.daemon = Daemon(home / "home")
        self.load = Load(self.daemon, self.chance)
        self._ids: dict[str, str] = {}

    def round(self) -> None:
        with Crowd(self.home / "agents", AGENTS) as crowd:
            self._start()
            self._introduce(crowd)
            self.load.begin(crowd.members)
            time.sleep(self.chance.uniform(*BUSY))
            self.daemon.kill()
            answered, dropped = self.load.end()
            self.counts["corrupt"] += not whole(self.home / "home" / "headcount.db")
            # Not a dropper: what the dead had still in the mailbox is late news, and rightly leaves no event.
            dead = self.chance.sample([each for each in crowd.members if each not in self.load.droppers], DIE)
            for member in dead:
                crowd.members.remove(member)
                member.kill()
                member.reap()
            self._start()
            self._judge(crowd.members, dead, answered, dropped)
            self.daemon.stop()
        self.counts["rounds"] += 1

    def _start(self) -> None:
        began = time.perf_counter()
        self.daemon.ready()
        self.ready.append(time.perf_counter() - began)

    def _introduce(self, crowd: Crowd) -> None:
        for member in crowd.members:
            drop(self.daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        wanted = {member.conversation for member in crowd.members}

        def bound() -> bool:
            rows = self.daemon.get("/v1/sessions")["sessions"]
            self._ids = {row["conversation"]: row["id"] for row in rows if row["liveness"] == "alive"}
            return wanted <= set(self._ids)

        eventually(bound, within=30)

    def _judge(self, living: list[Member], dead: list[Member], answered: set[str], dropped: set[str]) -> None:
        eventually(self.load.is_drained, within=60)
        kept = journal_labels(self.home / "home" / "headcount.db")
        self.counts["answered"] += len(answered)
        self.counts["dropped"] += len(dropped)
        self.counts["answered_lost"] += len(answered - kept)
        self.counts["dropped_lost"] += len(dropped - kept)
        rows = {row["id"]: row for row in self.daemon.get("/v1/sessions?all=1")["sessions"]}
        self.counts["living_lost"] += sum(
            rows[self._ids[each.conversation]]["liveness"] != "alive" for each in living
        )
        self.counts["dead_kept"] += sum(
            rows[self._ids[each.conversation]]["liveness"] != "ended" for each in dead
        )
        self.counts["set_aside"] += bool(self.daemon.get("/v1/status")["store"].get("set_aside"))


def run(*, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        try:
            while campaign.counts["rounds"] < rounds and time.monotonic() - began < seconds:
                campaign.round()
                progress(f"kill -9: round {campaign.counts['rounds']:,} of {rounds:,}")
        finally:
            campaign.daemon.stop()
        control = late_writer_loses(Path(directory) / "control.db")
    return _outcome(campaign, control, rounds)


def _outcome(campaign: Campaign, control: int, rounds: int) -> Outcome:
    counts = campaign.counts
    ready = sorted(campaign.ready)

    def none(what: str, name: str) -> Row:
        return Row(what, str(counts[name]), "0", counts[name] == 0)

    rows = (
        Row("kill -9 under load", f"{counts['rounds']:,}", f"{rounds:,}, if there is time"),
        Row("reports answered over HTTP", f"{counts['answered']:,}"),
        Row("reports dropped in the mailbox", f"{counts['dropped']:,}"),
        none("answered and lost", "answered_lost"),
        none("dropped and lost", "dropped_lost"),
        none("stores damaged", "corrupt"),
        none("stores set aside", "set_aside"),
        none("living sessions lost", "living_lost"),
        none("dead sessions kept", "dead_kept"),
        Row("control, answering before writing: answered and lost", str(control), "more than 0", control > 0),
        Row(
            "start to ready, median / p99 / slowest",
            " / ".join(f"{ready[round(share * (len(ready) - 1))] * 1000:.0f} ms" for share in (0.5, 0.99, 1)),
            "1 s",
        ),
    )
    return Outcome("kill_rounds", "kill -9 on the daemon, under load", rows)
