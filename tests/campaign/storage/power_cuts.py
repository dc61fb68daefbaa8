"""Power cuts by replay: what a real store writes and syncs is recorded once, then the power goes at any moment of it.

After each cut the store is opened as a start does: it must be whole, not set aside, and hold every event that was
acknowledged before the cut, with rows and journal of the same commit. The control is the same store that does not sync
each commit (SQLite's NORMAL).
"""

import asyncio
import random
import shutil
import time
from collections import Counter
from pathlib import Path

from headcount.store.sqlite.adapter import SqliteStore
from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.campaign.storage.store_from_outside import in_memory
from tests.faults.storage.power_cut_replay import TRACED, Call, Disk, recorded
from tests.store.sqlite.run_under_faults import run as run_writer
from tests.store.sqlite.run_under_faults import strace, writer

CUTS = 10_000
COMMITS = 400  # over a megabyte of log, so that checkpoints are among the moments
PASSES = 20  # the cuts are spread over so many walks through the record

Recording = tuple[dict[str, bytes], list[Call]]


def record(home: Path, commits: int, *ways: str) -> Recording:
    """The files before, and what the writing process then did to them."""
    path = home / "headcount.db"
    run_writer(writer(path, 1), check=True)
    before = {path.name: path.read_bytes()}
    trace = home.with_suffix(".trace")
    options = ("-y", "-xx", "-s", "100000", "-o", str(trace), "-e", f"trace={TRACED}")
    run_writer([*strace(*options), *writer(path, commits, *ways)], check=True)
    return before, recorded(trace)


class Cuts:
    def __init__(self, recording: Recording, place: Path) -> None:
        self._before, self._calls = recording
        self._place = place
        self.counts: Counter[str] = Counter()

    def walk(self, cuts: int, chance: random.Random) -> None:
        """Once through the record, with cuts at random moments of it."""
        moments = sorted(chance.randrange(1, len(self._calls) + 1) for _ in range(cuts))
        disk, acknowledged, done = Disk(self._before), 1, 0
        for moment in moments:
            for call in self._calls[done:moment]:
                disk.take(call)
                if call.kind == "said":
                    acknowledged = int(call.data.split()[1])
            done = moment
            self._judge(disk.after_a_cut(chance), acknowledged)

    def _judge(self, files: dict[str, bytes], acknowledged: int) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir()
        for name, content in files.items():
            if not name.endswith("-shm"):  # it lives in memory
                (self._place / name).write_bytes(content)
        store = SqliteStore.open(self._place / "headcount.db", machine="machine-1", now=lambda: 0.0)
        try:
            found = [one.seq for one in asyncio.run(store.history(limit=100_000))]
            serials = (int((one.name or "after 0").split()[1]) for one in store.loaded.sessions)
            newest = max(serials, default=0)  # a store that lost all of it has none
            lost = max(0, acknowledged - len(found))
            self.counts["cuts"] += 1
            self.counts["set_aside"] += store.loaded.set_aside is not None
            self.counts["torn"] += found != list(range(1, len(found) + 1)) or newest != len(found)
            self.counts["losing"] += lost > 0
            self.counts["lost"] += lost
        finally:
            store.close()


def run(
    *, seed: int, seconds: float, progress: Progress, cuts: int = CUTS, commits: int = COMMITS
) -> Outcome:
    began, chance = time.monotonic(), random.Random(seed)
    passes = min(PASSES, max(1, cuts // 20))
    with in_memory() as home:
        full = record(home / "full", commits)
        normal = record(home / "normal", commits, "normal")
        ours, control = Cuts(full, home / "cut"), Cuts(normal, home / "cut")
        for _ in range(passes):
            if time.monotonic() - began > seconds:
                break
            ours.walk(cuts // passes, chance)
            control.walk(max(10, cuts // passes // 10), chance)
            progress(f"power cuts: {ours.counts['cuts']:,} of {cuts:,}")
    return _outcome(ours.counts, control.counts, full, cuts)


def _outcome(ours: Counter[str], control: Counter[str], full: Recording, cuts: int) -> Outcome:
    kinds = Counter(call.kind for call in full[1])
    share = f"{control['losing']:,} of {control['cuts']:,}"
    rows = (
        Row("power cuts", f"{ours['cuts']:,}", f"{cuts:,}, if there is time"),
        Row(
            "  over so many commits / writes / syncs",
            f"{kinds['said']} / {kinds['pwrite64']:,} / {kinds['sync']}",
        ),
        none("ours: acknowledged and lost", ours["lost"]),
        none("ours: stores set aside", ours["set_aside"]),
        none("ours: a gap in the journal, or rows and journal of different commits", ours["torn"]),
        Row(
            "control, synced as NORMAL does: cuts that lost something acknowledged",
            share,
            "more than 0",
            control["losing"] > 0,
        ),
        some("control, synced as NORMAL does: acknowledged and lost", control["lost"]),
    )
    notes = (
        "Of a write that was not synced any part of its 512-byte sectors may be there, in any order; a removal may have happened or not.",
    )
    return Outcome("power_cuts", "Power cuts", rows, notes)
