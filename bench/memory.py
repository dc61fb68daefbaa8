"""Memory: what each watched session adds, to the daemon and to the machine.

Beside it: a process for each agent that waits for its end, as wrappers and supervisors have: in C (`sh`, which only
waits), and in Python.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import introduce, scratch
from bench.idle import _pss
from bench.numbers import median, times
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon, eventually

SIZES = (0, 200, 1_000)
WRAPPERS = 20
MOST = 40e6
KB = 1024.0

SHELL = ["sh", "-c", "sleep 100000; exit"]
PYTHON = [sys.executable, "-I", "-S", "-c", "import subprocess; subprocess.run(['sleep', '100000'])"]


def measure() -> Figure:
    with scratch() as directory:
        held = {size: _daemon(directory / f"size-{size}", size) for size in SIZES}
    shell, python = _wrappers(SHELL), _wrappers(PYTHON)
    most = SIZES[-1]
    each = (held[most] - held[0]) / most
    rows = (
        *(
            Row(
                f"headcount, {size:,} sessions",
                (_mb(memory), ""),
                *(("40 MB", memory < MOST) if size == most else ()),
            )
            for size, memory in held.items()
        ),
        Row("  each session", (_kb(each), times(each, each))),
        Row("a shell that waits, for each agent", (_kb(shell), times(shell, each))),
        Row("a Python that waits, for each agent", (_kb(python), times(python, each))),
    )
    notes = (
        "PSS of smaps_rollup: memory of its own, and its share of what it has in common with others.",
        f"Wrappers: the median of {WRAPPERS} that run at once, so that what they share is shared.",
    )
    ratio = Ratio(
        "memory for each session",
        _kb(each),
        f"a Python wrapper each: {_kb(python)}",
        python / each if each > 0 else 0.0,
        f"{most:,} sessions in 40 MB",
        held[most] < MOST,
    )
    return Figure("memory", "Memory", ("PSS", "× a session"), rows, notes, (ratio,))


def _daemon(place: Path, size: int) -> float:
    with Daemon(place / "home") as daemon, Crowd(place / "agents", size) as crowd:
        introduce(daemon, crowd.members)
        return median([_pss(daemon.pid) for _ in range(3)])


def _wrappers(command: list[str]) -> float:
    """Without what they run, which an agent would be."""
    running = [subprocess.Popen(command, start_new_session=True) for _ in range(WRAPPERS)]
    try:
        eventually(lambda: all(_children(each.pid) for each in running))
        return median([_pss(each.pid) for each in running])
    finally:
        for each in running:
            _end(each)


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(each) for each in file.read().split()]


def _end(wrapper: "subprocess.Popen[bytes]") -> None:
    """Its own session: nobody else is in it."""
    os.killpg(wrapper.pid, signal.SIGKILL)
    wrapper.wait()


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def _kb(size: float) -> str:
    return f"{size / KB:,.1f} KB"
