"""Damaged stores, opened one after the other in a process of its own, which a crash would end. See corruptions.py.

    python -m tests.campaign.storage.corruptions_inside DAMAGES SEED SECONDS HOME

Rules of this file
  1. A start is what the daemon's is: open, and after a commit or a look that met damage another start, at most as many
     as the daemon makes.
  2. Right is what was committed, to the last field. What is read of the journal is compared too.
"""

import asyncio
import json
import random
import shutil
import sqlite3
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from headcount.daemon.main import RESTARTS_MOST
from headcount.store.interface import NewerSchema, StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.campaign.storage.corruption_kinds import DAMAGES, IN_THE_FILE, Files
from tests.campaign.storage.sample_store import Sample, State, make, open_store
from tests.store.sample_values import event, session


@dataclass(slots=True)
class Found:
    """What came of one damaged store."""

    word: str  # right, aside, earlier, refused; wrong, long ago, crash, loop
    why: str = ""
    starts: int = 0
    kept: bool = True


class Judge:
    def __init__(self, home: Path, seed: int) -> None:
        self._home = home
        self.sample: Sample = make(home / "sample")
        self._chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []

    def round(self, nth: int) -> None:
        damage = DAMAGES[nth % len(DAMAGES)]
        given = self.sample.files
        if damage in IN_THE_FILE and self._chance.random() < 0.5:
            given = _checkpointed(given, self._home / "folded")  # nothing is in the log: all of it counts
        damaged = damage(given, self._chance)
        path = self._lay(damaged)
        found = self.judge(path, damaged)
        self.counts["damages"] += 1
        self.counts[found.word] += 1
        self.counts["not_kept"] += not found.kept
        self.counts[f"naive_{naive(self._lay(damaged), self.sample)}"] += 1
        if found.word in ("wrong", "long ago", "crash", "loop") or not found.kept:
            self.examples.append(f"{nth} {damage.__name__}: {found.word} {found.why} kept={found.kept}")

    def _lay(self, files: Files) -> Path:
        place = self._home / "now"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "headcount.db").write_bytes(files.database)
        if files.log:
            (place / "headcount.db-wal").write_bytes(files.log)
        return place / "headcount.db"

    def judge(self, path: Path, damaged: Files) -> Found:
        word = "right"
        for start in range(1, RESTARTS_MOST + 2):
            try:
                store = open_store(path)
            except (StoreFault, NewerSchema) as fault:
                return Found("refused", str(fault), start, _is_as_it_was(path, damaged))
            except Exception as error:
                return Found("crash", f"{type(error).__name__}: {error}", start)
            try:
                if store.loaded.set_aside is not None:
                    why = _does_not_work(store)
                    # after the first start it was in use, and commits were written to it
                    kept = _is_kept(store.loaded.set_aside, damaged, as_it_was=start == 1)
                    return Found("loop" if why else "aside", why, start, kept)
                before = self._state(store)
                if before is None:
                    return Found("wrong", _difference(self.sample.states[-1], State.of(store.loaded)), start)
                behind = len(self.sample.states) - 1 - before
                word = "right" if behind == 0 else "earlier" if behind == 1 else "long ago"
                why = self._wrong_journal(store, before)
                if why:
                    return Found("wrong", why, start)
                return Found(word, "", start)
            except StoreFault as fault:
                if fault.kind != "corrupt":
                    return Found("crash", f"{fault.kind}: {fault}", start)
            finally:
                store.close()
        return Found("loop", "damaged at every start", RESTARTS_MOST + 1)

    def _state(self, store: SqliteStore) -> int | None:
        """After which of the commits it stands; None: it never was like this."""
        loaded = State.of(store.loaded)
        if {row.hash for row in asyncio.run(store.tokens.load())} != self.sample.tokens:
            return None
        for nth in reversed(range(len(self.sample.states))):
            if self.sample.states[nth] == loaded:
                return nth
        return None

    def _wrong_journal(self, store: SqliteStore, before: int) -> str:
        """After one more commit, so that whatever a commit touches was met."""
        seq = store.loaded.seq + 1
        asyncio.run(store.commit([event(seq)], [session("new")]))
        found = asyncio.run(store.history(limit=100_000))
        wanted = [*self.sample.events[: store.loaded.seq], event(seq)]
        if found == wanted:
            return ""
        first = next((one for one, other in zip(found, wanted, strict=False) if one != other), None)
        return f"the journal differs: {len(found)} of {len(wanted)}, first {first}"


def _difference(wanted: State, found: State) -> str:
    parts = []
    for name in ("sessions", "claims", "requests", "leftovers"):
        left, right = getattr(wanted, name), getattr(found, name)
        parts += [f"{name} {key}" for key in left.keys() | right.keys() if left.get(key) != right.get(key)]
    parts += [
        f"{name} {getattr(found, name)}"
        for name in ("seq", "machine")
        if getattr(found, name) != getattr(wanted, name)
    ]
    return "differs in " + (", ".join(sorted(parts)[:4]) or "tokens")


def _does_not_work(store: SqliteStore) -> str:
    try:
        asyncio.run(store.commit([event(store.loaded.seq + 1)], [session()]))
    except StoreFault as fault:
        return str(fault)
    return ""


def _is_kept(aside: Path, damaged: Files, *, as_it_was: bool) -> bool:
    if not as_it_was:
        return aside.stat().st_size > 0
    if aside.name.endswith("-wal"):
        return aside.read_bytes() == damaged.log
    log = aside.with_name(aside.name + "-wal")
    is_log_kept = not damaged.log or (log.exists() and log.read_bytes() == damaged.log)
    return is_log_kept and aside.read_bytes() == damaged.database


def _is_as_it_was(path: Path, damaged: Files) -> bool:
    return path.read_bytes() == damaged.database


def _checkpointed(files: Files, place: Path) -> Files:
    """The same store with nothing in its log."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    path = place / "headcount.db"
    path.write_bytes(files.database)
    path.with_name("headcount.db-wal").write_bytes(files.log)
    open_store(path).close()
    return Files(path.read_bytes(), b"")


def naive(path: Path, sample: Sample) -> str:
    """The same file, opened and read without a check: right, wrong, or not at all."""
    wanted = {json.dumps(each) for each in _bodies(sample)}
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT body FROM sessions UNION ALL SELECT body FROM claims").fetchall()
        found = {json.dumps(json.loads(body)) for (body,) in rows}
    except (sqlite3.Error, ValueError, TypeError):
        return "crash"
    finally:
        connection.close()
    return "right" if found == wanted else "wrong"


def _bodies(sample: Sample) -> list[object]:
    import msgspec

    last = sample.states[-1]
    return [
        json.loads(msgspec.json.encode(each)) for each in (*last.sessions.values(), *last.claims.values())
    ]


def main(damages: int, seed: int, seconds: float, home: Path) -> None:
    judge = Judge(home, seed)
    began = time.monotonic()
    for nth in range(damages):
        if time.monotonic() - began > seconds:
            break
        judge.round(nth)
        if nth % 50 == 49:
            print(json.dumps({"at": f"corruptions: {nth + 1:,} of {damages:,}"}), flush=True)
    print(json.dumps({"counts": judge.counts, "examples": judge.examples}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
