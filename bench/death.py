"""Death latency: from the kill to the event in a reader's hands, with 1,000 processes watched.

Beside it: a loop that looks every 5 s and one every 10 s (what the earlier tools do), a bare asyncio loop
on pidfds, and an epoll loop in C, which is as fast as the kernel lets anybody be.
"""

import asyncio
import os
import random
import threading
import time

from bench import floor_c
from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.numbers import median, ms, percentile, times
from bench.plot import BLUE, GREEN, GREY, ORANGE, RED, Axis, Curve, chart, cumulative, tens
from bench.sse import hear_each_death
from tests.rig.agents.crowd import Crowd

WATCHED = 1_000
KILLS = 400
POLLED_KILLS = 120
PAUSE = 0.01


def measure() -> Figure:
    with scratch() as directory:
        with running(directory, WATCHED + KILLS) as (daemon, crowd):
            ours = hear_each_death(daemon.socket, crowd, KILLS, PAUSE)
        with Crowd(directory / "agents", WATCHED + KILLS) as crowd:
            bare = asyncio.run(_bare(crowd))
        c = floor_c.measure(directory, WATCHED, KILLS, PAUSE)
        with Crowd(directory / "agents", POLLED_KILLS * 2) as crowd:
            five, ten = _polled(crowd, 5.0), _polled(crowd, 10.0)
    base = median(ours)
    rows = [
        _row(
            "headcount, event on the stream",
            ours,
            base,
            "p50 about 1 ms, p99 under 100 ms",
            percentile(ours, 0.99) < 0.1,
        ),
        _row("bare asyncio on pidfds", bare, base),
        *([_row("epoll in C", c, base)] if c else []),
        _row("`kill -0` every 5 s", five, base),
        _row("`kill -0` every 10 s", ten, base),
    ]
    notes = (
        f"{KILLS} kills, one after another, {WATCHED:,} to {WATCHED + KILLS:,} processes watched; the two floors likewise.",
        "Ours includes the commit with fsync: what the reader hears is on the disk.",
        f"Polling: {POLLED_KILLS} kills at random moments for each interval, told by real loops.",
        "The last column is the median as a multiple of ours.",
    )
    ratios = tuple(
        Ratio(
            f"a death, against {what}",
            ms(base),
            f"{ms(median(sample))} at the median",
            median(sample) / base,
            *target,
        )
        for what, sample, target in (
            ("polling every 5 s", five, ("p99 under 100 ms", percentile(ours, 0.99) < 0.1)),
            ("polling every 10 s", ten, ()),
            *([("an epoll loop in C, which stores nothing", c, ())] if c else []),
        )
    )
    columns = ("p50", "p99", "slowest", "ratio")
    pictures = (("death-latency", _drawn(ours, bare, c, five, ten)),)
    return Figure("death", "From a kill to the event", columns, tuple(rows), notes, ratios, pictures)


def _drawn(ours: list[float], bare: list[float], c: list[float], five: list[float], ten: list[float]) -> str:
    """The share of deaths that are known after so long."""
    named = (
        ("headcount", ours, BLUE),
        ("bare asyncio", bare, GREEN),
        ("epoll in C", c, GREY),
        ("polling, 5 s", five, ORANGE),
        ("polling, 10 s", ten, RED),
    )
    curves = [
        Curve(name, cumulative([each * 1000 for each in sample]), colour)
        for name, sample, colour in named
        if sample
    ]
    across = tens("milliseconds after the kill", [x for curve in curves for x, _ in curve.points])
    return chart("Deaths that are known by then", across, Axis("share of deaths", 0.0, 1.0), curves)


def _row(what: str, sample: list[float], base: float, target: str = "", met: bool | None = None) -> Row:
    cells = (ms(median(sample)), ms(percentile(sample, 0.99)), ms(max(sample)), times(median(sample), base))
    return Row(what, cells, target, met)


async def _bare(crowd: Crowd) -> list[float]:
    """Nothing but pidfds on the loop; the killer is a thread, as another process would be."""
    loop = asyncio.get_running_loop()
    seen: asyncio.Queue[tuple[int, float]] = asyncio.Queue()

    def readable(pid: int, fd: int) -> None:
        now = time.perf_counter()
        loop.remove_reader(fd)
        seen.put_nowait((pid, now))

    for member in crowd.members:
        loop.add_reader(member.pidfd, readable, member.pid, member.pidfd)
    sample = []
    for _ in range(KILLS):
        member = crowd.take()
        await asyncio.sleep(PAUSE)
        began = time.perf_counter()
        member.kill()
        _, at = await seen.get()
        sample.append(at - began)
        member.reap()
    for member in crowd.members:
        loop.remove_reader(member.pidfd)
    return sample


def _polled(crowd: Crowd, every: float) -> list[float]:
    """Kills at random moments of several rounds, seen by a loop that asks each pid whether it exists."""
    chosen = [crowd.take() for _ in range(POLLED_KILLS)]
    killed: dict[int, float] = {}
    found: dict[int, float] = {}
    done = threading.Event()

    def poll() -> None:
        while not done.is_set():
            for pid in [member.pid for member in chosen if member.pid not in found]:
                if not _exists(pid):
                    found[pid] = time.perf_counter()
            done.wait(every)

    watcher = threading.Thread(target=poll)
    watcher.start()
    pause = random.Random(1)
    for member in chosen:
        time.sleep(pause.uniform(0, 2 * 2 * every / POLLED_KILLS))
        killed[member.pid] = time.perf_counter()
        member.kill()
        member.reap()  # at once: a zombie would answer the poll as alive (and so it does for tools that do not reap)
    while len(found) < len(chosen):
        time.sleep(0.05)
    done.set()
    watcher.join()
    return [found[pid] - killed[pid] for pid in killed]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
