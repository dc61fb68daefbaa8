"""Idle with 1,000 sessions: share of a core, wake-ups a second, memory.

Beside it: the same daemon with no session, a loop that asks 1,000 pids every 5 s, and a bare interpreter.
"""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.numbers import median, times
from headcount.times import CENSUS_EVERY
from tests.rig.agents.crowd import Crowd

SIZE = 1_000
SPAN = 2 * CENSUS_EVERY  # whole census periods, so that their cost is in
SETTLE = CENSUS_EVERY + 10.0  # the flood of registrations is over, and one census has seen them all
NANOSECOND = 1e-9

POLLER = """
import os, sys, time
pids = [int(pid) for pid in sys.stdin.readline().split()]
print("ready", flush=True)
while True:
    for pid in pids:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            pass
    time.sleep(5)
"""


def measure() -> Figure:
    with scratch() as directory:
        with running(directory / "full", SIZE) as (daemon, crowd):
            poller = _poller(crowd)
            time.sleep(SETTLE)
            full, polling = _watch([daemon.pid, poller.pid], SPAN)
            poller.kill()
            poller.communicate()
        with running(directory / "empty", 0) as (daemon, _):
            time.sleep(2.0)
            (empty,) = _watch([daemon.pid], CENSUS_EVERY)
    bare = _bare_memory()
    three = (full, empty, polling)
    rows = (
        Row(
            "CPU, share of a core",
            tuple(f"{each.share:.3%}" for each in three),
            "0.05 %",
            full.share < 0.0005,
        ),
        Row("wake-ups a second", tuple(f"{each.woke:.2f}" for each in three), "1", full.woke < 1),
        Row("put aside for others, a second", tuple(f"{each.preempted:.2f}" for each in three)),
        Row("memory (PSS)", tuple(_mb(each.memory) for each in three), "40 MB", full.memory < 40e6),
        Row("  of it bare CPython", (f"{times(bare, full.memory)}: {_mb(bare)}", "", "")),
        Row("  a session", (f"{(full.memory - empty.memory) / SIZE / 1024:.1f} KB", "", "")),
    )
    notes = (
        f"{SIZE:,} sessions bound to living processes, over {SPAN:.0f} s: {SPAN / CENSUS_EVERY:.0f} censuses included.",
        "All threads: CPU from schedstat, wake-ups are voluntary context switches, being put aside involuntary ones",
        "(they count the machine's other work); memory is PSS in smaps_rollup.",
    )
    columns = (f"headcount, {SIZE:,} sessions", "headcount, none", "`kill -0` every 5 s")
    ratio = Ratio(
        f"CPU while idle, {SIZE:,} sessions",
        f"{full.share:.3%} of a core",
        f"`kill -0` every 5 s: {polling.share:.3%}",
        polling.share / full.share if full.share else 0.0,
        "0.05 %, one wake-up a second",
        full.share < 0.0005 and full.woke < 1,
    )
    return Figure("idle", "Idle", columns, rows, notes, (ratio,))


@dataclass(frozen=True, slots=True)
class Spent:
    """Of all threads: seconds of a core, times it woke by itself, times it was put aside for others."""

    seconds: float
    woke: int
    preempted: int


@dataclass(frozen=True, slots=True)
class Idle:
    share: float
    woke: float
    preempted: float
    memory: float


def _watch(pids: list[int], span: float) -> list[Idle]:
    before = [_spent(pid) for pid in pids]
    began = time.monotonic()
    time.sleep(span)
    taken = time.monotonic() - began
    return [
        Idle(
            (now.seconds - then.seconds) / taken,
            (now.woke - then.woke) / taken,
            (now.preempted - then.preempted) / taken,
            _pss(pid),
        )
        for pid, then, now in zip(pids, before, [_spent(pid) for pid in pids], strict=True)
    ]


def _spent(pid: int) -> Spent:
    seconds, woke, preempted = 0.0, 0, 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        seconds += int((task / "schedstat").read_text().split()[0]) * NANOSECOND
        for line in (task / "status").read_text().splitlines():
            name, _, value = line.partition(":")
            woke += int(value) if name == "voluntary_ctxt_switches" else 0
            preempted += int(value) if name == "nonvoluntary_ctxt_switches" else 0
    return Spent(seconds, woke, preempted)


def _pss(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024.0
    raise ValueError("no Pss line")


def _poller(crowd: Crowd) -> subprocess.Popen[str]:
    poller = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", POLLER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert poller.stdin is not None and poller.stdout is not None
    poller.stdin.write(" ".join(str(member.pid) for member in crowd.members) + "\n")
    poller.stdin.flush()
    assert poller.stdout.readline() == "ready\n"
    return poller


def _bare_memory() -> float:
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "print('x', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    found = median([_pss(child.pid) for _ in range(3)])
    child.kill()
    child.communicate()
    return found


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"
