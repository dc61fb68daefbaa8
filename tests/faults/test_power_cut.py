"""G6: a power cut loses nothing that was acknowledged, and leaves a store that opens.

The control syncs as SQLite's NORMAL does, and loses: the replay can tell.
"""

import asyncio
import random
from pathlib import Path

from headcount.store.sqlite import SqliteStore
from tests.faults.power import TRACED, Call, Disk, recorded
from tests.store.faults import run, strace, writer

COMMITS = 120
CUTS = 60


def record(home: Path, *ways: str) -> tuple[dict[str, bytes], list[Call]]:
    """The files before, and what the writing process then did to them."""
    path = home / "headcount.db"
    run(writer(path, 1), check=True)
    before = {path.name: path.read_bytes()}
    trace = home.with_suffix(".trace")
    options = ("-y", "-xx", "-s", "100000", "-o", str(trace), "-e", f"trace={TRACED}")
    run([*strace(*options), *writer(path, COMMITS, *ways)], check=True)
    return before, recorded(trace)


def lost_by_a_cut(before: dict[str, bytes], calls: list[Call], place: Path, seed: int) -> int:
    """How many acknowledged events a cut at some moment of the record costs."""
    chance = random.Random(seed)
    disk, acknowledged = Disk(before), 1
    for call in calls[: chance.randrange(1, len(calls) + 1)]:
        disk.take(call)
        if call.kind == "said":
            acknowledged = int(call.data.split()[1])
    place.mkdir()
    for name, content in disk.after_a_cut(chance).items():
        if not name.endswith("-shm"):  # it lives in memory
            (place / name).write_bytes(content)
    store = SqliteStore.open(place / "headcount.db", machine="machine-1", now=lambda: 0.0)
    try:
        assert store.loaded.set_aside is None
        found = [one.seq for one in asyncio.run(store.history())]
        assert found == list(range(1, len(found) + 1))
        return max(0, acknowledged - len(found))
    finally:
        store.close()


def test_a_power_cut_loses_nothing_acknowledged(tmp_path: Path) -> None:
    before, calls = record(tmp_path / "full")
    assert sum(call.kind == "said" for call in calls) == COMMITS
    lost = [lost_by_a_cut(before, calls, tmp_path / f"cut-{seed}", seed) for seed in range(CUTS)]
    assert lost == [0] * CUTS


def test_without_a_sync_of_each_commit_power_cuts_lose_acknowledged_events(tmp_path: Path) -> None:
    before, calls = record(tmp_path / "normal", "normal")
    lost = [lost_by_a_cut(before, calls, tmp_path / f"cut-{seed}", seed) for seed in range(CUTS)]
    assert sum(1 for count in lost if count) > CUTS // 4
