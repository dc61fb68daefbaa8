"""The search for what the dead left: one look at the environments of 5,000 processes, and what the loop feels of it.

Beside it, on the same processes: psutil's `environ` of each, which is how one would write it by hand.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

from bench.figure import Figure, Ratio, Row
from bench.numbers import median, ms, percentile
from headcount.agents.kit.programs import NAMES
from headcount.system.processes import children

PROCESSES = 5_000
ROUNDS = 5
MOST = 0.150
MARKED = "22222222-3333-4444-8555-666666666666"
TICK = 0.005

CROWD = """
i=0
while [ $i -lt {count} ]; do sleep 100000 </dev/null >/dev/null 2>&1 & i=$((i+1)); done
CLAUDE_CODE_SESSION_ID={marked} CLAUDE_PID=$$ sleep 100000 </dev/null >/dev/null 2>&1 &
echo ready
read word
kill $(jobs -p)
"""


@contextmanager
def crowd(count: int) -> Iterator[None]:
    """That many processes with an environment of the usual size; they end with this."""
    padding = {f"VARIABLE_{number}": "x" * 60 for number in range(30)}
    shell = subprocess.Popen(
        ["sh", "-c", CROWD.format(count=count, marked=MARKED)],
        env={"PATH": os.environ["PATH"], **padding},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert shell.stdin is not None and shell.stdout is not None
    try:
        assert shell.stdout.readline() == b"ready\n"
        yield
    finally:
        os.killpg(shell.pid, signal.SIGKILL)  # its own session: nobody else is in it
        shell.wait()


def measure() -> Figure:
    before = len(os.listdir("/proc"))
    with crowd(PROCESSES):
        ours = [_timed(_ours) for _ in range(ROUNDS)]
        used = [_timed(_ours, time.thread_time) for _ in range(ROUNDS)]
        lag = asyncio.run(_lag())
        theirs = [_timed(_by_hand)]
    rows = (
        Row(
            "all environments, ours",
            (ms(median(ours)), ms(max(ours))),
            f"under {ms(MOST)}",
            median(ours) < MOST,
        ),
        Row("  of it processor time", (ms(median(used)), ms(max(used))), "", None),
        Row("the loop waits meanwhile (p99)", (ms(percentile(lag, 0.99)), ms(max(lag))), "", None),
        Row("psutil, process by process", (ms(median(theirs)), ms(max(theirs))), "", None),
    )
    notes = (f"{PROCESSES:,} processes beside some {before} others; one of them carries marks and is found.",)
    ratio = Ratio(
        f"all environments of {PROCESSES:,} processes",
        ms(median(ours)),
        f"psutil: {ms(median(theirs))}",
        median(theirs) / median(ours),
        f"under {ms(MOST)}",
        median(ours) < MOST,
    )
    return Figure("scan", "The search for leftovers", ("median", "highest"), rows, notes, (ratio,))


def _ours() -> None:
    found = children.carriers(NAMES)
    assert any(carried.get("CLAUDE_CODE_SESSION_ID") == MARKED for carried in found.values())


def _by_hand() -> None:
    for process in psutil.process_iter():
        try:
            process.environ()
        except psutil.Error:
            continue


def _timed(work: Callable[[], None], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


async def _lag() -> list[float]:
    """How late the loop's own timer comes while a thread searches."""
    searching = asyncio.create_task(asyncio.to_thread(_ours))
    lags = []
    while not searching.done():
        began = time.perf_counter()
        await asyncio.sleep(TICK)
        lags.append(time.perf_counter() - began - TICK)
    await searching
    return lags
