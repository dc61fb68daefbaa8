"""A kill at every storage call: write, sync, truncate, rename, remove, one after the other, each by a real SIGKILL.

Three scenes: a store that is made anew; one with a history, whose log is written back into its file on the way; and a
damaged one that is being set aside. After each kill the store is opened as a start does. The control acknowledges before
it commits.
"""

import asyncio
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from headcount.store.sqlite.adapter import SqliteStore
from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.campaign.storage.store_from_outside import in_memory, whole
from tests.store.sqlite.run_under_faults import STORAGE, acknowledged, strace, writer
from tests.store.sqlite.run_under_faults import run as run_writer

CALLS = 10_000  # as many as there are, in fact
STORED = f"{STORAGE},unlink"
GARBAGE = b"this was a store\n" * 500
MACHINE = "machine-1"
SYNCS = 34  # with some eight pages each: the log is written back at 256
GROWN = "with a history"

Prepare = Callable[[Path], None]


def nothing(path: Path) -> None:
    path.parent.mkdir()


def grown(path: Path) -> None:
    """Nearly so much in its log that the next commits write it back; left as by a kill."""
    run_writer(writer(path, 60), check=True)
    kill = f"inject=fdatasync:signal=KILL:when={SYNCS}"
    run_writer([*strace("-o", "/dev/null", "-e", kill), *writer(path, 100)])


def damaged(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(GARBAGE)


SCENES: dict[str, tuple[Prepare, int]] = {
    "made anew": (nothing, 6),
    GROWN: (grown, 25),
    "set aside": (damaged, 4),
}


class Scene:
    def __init__(self, home: Path, name: str) -> None:
        self._prepare, self._commits = SCENES[name]
        self._home = home
        self._before = home / f"{name} before"
        self._prepare(self._before / "headcount.db")
        self._seqs = self._stored(self._copy())[0]
        self.counts: Counter[str] = Counter()
        self.calls = self._count()

    def _copy(self) -> Path:
        place = self._home / "now"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._before, place)
        return place / "headcount.db"

    def _count(self) -> int:
        """Of the thread that makes most: strace counts for each by itself, and the first to come so far is killed."""
        trace = self._home / "trace"
        path = self._copy()
        run_writer(
            [*strace("-o", str(trace), "-e", f"trace={STORED}"), *writer(path, self._commits)], check=True
        )
        found = re.findall(r"^(\d+) +\w+\(", trace.read_text(), re.MULTILINE)
        return max(Counter(found).values())

    def kill_at(self, nth: int, *ways: str) -> None:
        path = self._copy()
        inject = f"inject={STORED}:signal=KILL:when={nth}"
        said = run_writer(
            [
                *strace("-o", "/dev/null", "-e", f"trace={STORED}", "-e", inject),
                *writer(path, self._commits, *ways),
            ]
        )
        acks = acknowledged(said)
        self.counts["kills"] += 1
        self.counts["unhurt"] += len(acks) == self._commits
        self.counts["acknowledged"] += len(acks)
        is_kept = self._is_kept(path)
        seqs, newest = self._stored(path)
        fresh = [seq for seq in seqs if seq not in set(self._seqs)]
        self.counts["lost"] += len(set(acks) - set(seqs))
        self.counts["old_lost"] += len(set(self._seqs) - set(seqs))
        self.counts["unasked"] += len(fresh) > len(acks) + 1  # the last may be on the disk and not yet told
        self.counts["half"] += (bool(seqs) and newest != seqs[-1]) or seqs != _row(seqs) or not whole(path)
        self.counts["garbage_lost"] += not is_kept

    def _is_kept(self, path: Path) -> bool:
        """The damaged file lies where it was, or aside, to the last byte; looked at before the next start."""
        if self._prepare is not damaged:
            return True
        places = [path, *path.parent.glob("headcount.db.corrupt-*")]
        return any(
            each.read_bytes() == GARBAGE for each in places if each.is_file() and "-wal" not in each.name
        )

    def _stored(self, path: Path) -> tuple[list[int], int]:
        """The journal, and the newest commit that the rows know; opened twice, as a second start would."""
        for _ in range(2):
            store = SqliteStore.open(path, machine=MACHINE, now=time.time)
            try:
                seqs = [one.seq for one in asyncio.run(store.history(limit=100_000))]
                names = [int((one.name or "after 0").split()[1]) for one in store.loaded.sessions]
            finally:
                store.close()
        return seqs, max(names, default=0)


def _row(seqs: list[int]) -> list[int]:
    return list(range(seqs[0], seqs[0] + len(seqs))) if seqs else []


def run(
    *, seed: int, seconds: float, progress: Progress, calls: int = CALLS, control_kills: int = 10
) -> Outcome:
    """`calls`: at how many of the calls, evenly spread; the seed says with which to begin."""
    began, rows = time.monotonic(), []
    total: Counter[str] = Counter()
    early: Counter[str] = Counter()
    with in_memory() as home:
        for name in SCENES:
            scene = Scene(home, name)
            step = max(1, -(-scene.calls * len(SCENES) // calls))
            for nth in range(1 + seed % step, scene.calls + 1, step):
                if time.monotonic() - began > seconds:
                    break
                scene.kill_at(nth)
                progress(f"kill at every storage call: {name}, {nth} of {scene.calls}")
            rows.append(
                Row(
                    f"a store {name}: killed at so many of its storage calls",
                    f"{scene.counts['kills']} of {scene.calls}",
                )
            )
            total += scene.counts
            if name == GROWN:
                early = _control(scene, control_kills)
    return _outcome(rows, total, early)


def _control(scene: Scene, kills: int) -> Counter[str]:
    scene.counts = Counter()
    for nth in range(kills):
        scene.kill_at(4 + 5 * nth, "early")
    return scene.counts


def _outcome(rows: list[Row], total: Counter[str], early: Counter[str]) -> Outcome:
    made = (
        *rows,
        Row("acknowledged before the kills", f"{total['acknowledged']:,}"),
        none("ours: acknowledged and lost", total["lost"]),
        none("ours: of what was there before, lost", total["old_lost"]),
        none("ours: half a commit, a gap, or a damaged file", total["half"]),
        none("ours: more there than was asked for", total["unasked"]),
        none("ours: a damaged file that was not kept", total["garbage_lost"]),
        Row("kills after the last acknowledgement, while it was closed in order", f"{total['unhurt']:,}"),
        some("control, acknowledging before the commit: acknowledged and lost", early["lost"]),
    )
    return Outcome("storage_crash", "A kill at every storage call", made)
