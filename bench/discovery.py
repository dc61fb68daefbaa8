"""Discovery: 30 agents that run already, among 2,000 old transcripts, from "ready" to all of them named.

Beside it: reading the tail of every transcript, which is what a scan of the files alone has to do; and what the
daemon costs afterwards, while nobody does anything.
"""

import os
import time
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import scratch
from bench.idle import _spent
from bench.numbers import median, ms, times
from headcount.times import CENSUS_EVERY, CENSUS_SETTLES
from tests.rig.agents.open_conversations import CodexHost
from tests.rig.daemon.real_daemon import Daemon

LIVE, OLD, EACH = 30, 2_000, 2_500_000
ROUNDS = 5
WITHIN = 0.2
TAIL = 64 * 1024
SHARE = 0.001


def measure() -> Figure:
    with scratch() as directory, ExitStack() as stack:
        root = directory / "codex"
        _old_ones(root)
        hosts = [
            stack.enter_context(CodexHost(directory / f"run{nth}", root, run=True)) for nth in range(LIVE)
        ]
        mine = {host.open() for host in hosts}
        time.sleep(2 * CENSUS_SETTLES)  # they ran before headcount did
        found = [_found(directory / f"home{nth}", root, mine) for nth in range(ROUNDS)]
        scanned = [_scan(root) for _ in range(ROUNDS)]
        share = _idle(directory / "idle", root, mine)
    rows = (
        Row(
            f"{LIVE} agents named after ready",
            (ms(median(found)), ms(max(found)), "1"),
            "200 ms",
            median(found) < WITHIN,
        ),
        Row(
            f"the tails of {OLD:,} transcripts instead",
            (ms(median(scanned)), ms(max(scanned)), times(median(scanned), median(found))),
        ),
        Row("CPU afterwards, share of a core", (f"{share:.3%}", "", ""), "0.1 %", share < SHARE),
    )
    notes = (
        f"{ROUNDS} starts, medians; {OLD:,} sparse transcripts of {EACH / 1e6:.1f} MB, none of which is opened.",
        "The scan finds no living session: a file says nothing of its process.",
        f"CPU of all threads over {CENSUS_EVERY:.0f} s, one census included.",
    )
    ratio = Ratio(
        f"{LIVE} running agents named after a start",
        ms(median(found)),
        f"the tails of {OLD:,} transcripts: {ms(median(scanned))}",
        median(scanned) / median(found),
        ms(WITHIN),
        median(found) < WITHIN,
    )
    return Figure("discovery", "Discovery", ("median", "slowest", "×"), rows, notes, (ratio,))


def _old_ones(root: Path) -> None:
    old = root / "sessions" / "2025" / "01" / "01"
    old.mkdir(parents=True)
    for nth in range(OLD):
        name = f"rollout-2025-01-01T00-00-00-{nth:08x}-0000-4000-8000-000000000000.jsonl"
        with (old / name).open("wb") as file:
            file.truncate(EACH)


def _found(home: Path, root: Path, mine: set[str]) -> float:
    with Daemon(home, CODEX_HOME=str(root)) as daemon:
        began = time.perf_counter()
        while not mine <= {row["conversation"] for row in daemon.sessions(liveness="alive")}:
            assert time.perf_counter() - began < 30, "they were never found"
            time.sleep(0.005)  # who asks without a pause takes the core that looks
        return time.perf_counter() - began


def _scan(root: Path) -> float:
    began = time.perf_counter()
    for path in (root / "sessions").rglob("rollout-*.jsonl"):
        fd = os.open(path, os.O_RDONLY)
        os.pread(fd, TAIL, max(0, os.fstat(fd).st_size - TAIL))
        os.close(fd)
    return time.perf_counter() - began


def _idle(home: Path, root: Path, mine: set[str]) -> float:
    with Daemon(home, CODEX_HOME=str(root)) as daemon:
        while not mine <= {row["conversation"] for row in daemon.sessions(liveness="alive")}:
            time.sleep(0.05)
        time.sleep(5.0)
        before, began = _spent(daemon.pid), time.monotonic()
        time.sleep(CENSUS_EVERY)
        return (_spent(daemon.pid).seconds - before.seconds) / (time.monotonic() - began)
