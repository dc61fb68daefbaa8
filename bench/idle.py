"""Idle with 1,000 sessions: share of a core, wake-ups a second, memory.

Beside it: the same daemon with no session, a loop that asks 1,000 pids every 5 s, and a bare interpreter.
"""

import subprocess
import sys
import time
from pathlib import Path

from bench.figure import Figure, Row
from bench.home import running, scratch
from bench.numbers import median, times
from headcount.times import CENSUS_EVERY
from tests.rig.crowd import Crowd

SIZE = 1_000
SPAN = 2 * CENSUS_EVERY  # whole census periods, so that their cost is in
SETTLE = 12.0  # the flood of registrations is written out, the allocator has calmed down
TICK = 1e-9

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
    rows = (
        Row(
            "CPU, share of a core", (_share(full), _share(empty), _share(polling)), "0.05 %", full[0] < 0.0005
        ),
        Row(
            "wake-ups a second, all threads",
            tuple(f"{each[1]:.2f}" for each in (full, empty, polling)),
            "1",
            full[1] < 1,
        ),
        Row("memory (PSS)", tuple(_mb(each[2]) for each in (full, empty, polling)), "40 MB", full[2] < 40e6),
        Row("  of it bare CPython", (f"{times(bare, full[2])}: {_mb(bare)}", "", "")),
        Row("  a session", (f"{(full[2] - empty[2]) / SIZE / 1024:.1f} KB", "", "")),
    )
    notes = (
        f"{SIZE:,} sessions bound to living processes, over {SPAN:.0f} s: {SPAN / CENSUS_EVERY:.0f} censuses included.",
        "CPU from /proc/PID/task/*/schedstat (nanoseconds), wake-ups as voluntary and involuntary context switches,",
        "memory as PSS in smaps_rollup.",
    )
    columns = (f"headcount, {SIZE:,} sessions", "headcount, none", "`kill -0` every 5 s")
    return Figure("idle", "Idle", columns, rows, notes)


def _watch(pids: list[int], span: float) -> list[tuple[float, float, float]]:
    before = [_spent(pid) for pid in pids]
    began = time.monotonic()
    time.sleep(span)
    taken = time.monotonic() - began
    return [
        ((now[0] - then[0]) / taken, (now[1] - then[1]) / taken, _pss(pid))
        for pid, then, now in zip(pids, before, [_spent(pid) for pid in pids], strict=True)
    ]


def _spent(pid: int) -> tuple[float, int]:
    """CPU seconds and context switches of all threads. Those of a thread that has ended are in the process's sums."""
    stat = Path(f"/proc/{pid}/schedstat")
    seconds, switches = 0.0, 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        seconds += int((task / "schedstat").read_text().split()[0]) * TICK
        for line in (task / "status").read_text().splitlines():
            if line.endswith("ctxt_switches") or "ctxt_switches:" in line:
                switches += int(line.split()[1])
    assert stat.exists()
    return seconds, switches


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


def _share(watched: tuple[float, float, float]) -> str:
    return f"{watched[0] * 100:.3f} %"


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"
