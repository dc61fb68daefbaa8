"""A storm: 1,000 watched processes killed at once. All are told, none is missed, and how soon the last is durable.

Beside it: how long a bare asyncio loop needs only to see the same 1,000 ends, and how long a plain loop
that commits each death on its own needs.
"""

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import introduce, scratch
from bench.numbers import median, ms, times
from bench.sse import Stream
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon

SIZE = 1_000
ROUNDS = 5
WITHIN = 0.25


def measure() -> Figure:
    ours, missed, bare, alone = [], 0, [], []
    with scratch() as directory:
        with Daemon(directory / "home") as daemon:
            for _ in range(ROUNDS):
                with Crowd(directory / "agents", SIZE) as crowd:
                    introduce(daemon, crowd.members)
                    last, lost = _ours(daemon, crowd)
                    ours.append(last)
                    missed += lost
        for _ in range(ROUNDS):
            with Crowd(directory / "agents", SIZE) as crowd:
                bare.append(asyncio.run(_bare(crowd, None)))
            with Crowd(directory / "agents", SIZE) as crowd:
                alone.append(asyncio.run(_bare(crowd, directory / "alone.db")))
    base = median(ours)
    rows = (
        Row("headcount: last death durable and told", _cells(ours, base), "250 ms", base <= WITHIN),
        Row("headcount: deaths missed", (str(missed), "", ""), "0", missed == 0),
        Row("bare asyncio: last end seen, nothing stored", _cells(bare, base)),
        Row("bare asyncio, one durable commit a death", _cells(alone, base)),
    )
    notes = (
        f"{SIZE:,} processes, {ROUNDS} rounds; from the first kill; a reader on the stream sees each death.",
    )
    columns = ("median", "slowest round", "ratio")
    one_by_one = median(alone)
    ratio = Ratio(
        f"{SIZE:,} deaths, the last one durable",
        ms(base),
        f"one commit a death: {ms(one_by_one)}",
        one_by_one / base,
        f"{ms(WITHIN)}, none missed",
        base <= WITHIN and missed == 0,
    )
    return Figure("storm", "A thousand killed at once", columns, rows, notes, (ratio,))


def _cells(sample: list[float], base: float) -> tuple[str, str, str]:
    return ms(median(sample)), ms(max(sample)), times(median(sample), base)


def _ours(daemon: Daemon, crowd: Crowd) -> tuple[float, int]:
    stream = Stream(daemon.socket)
    waiting = {member.pid for member in crowd.members}
    began = _kill_all(crowd)
    last = began
    try:
        while waiting:
            for pid, at in stream.ended():
                waiting.discard(pid)
                last = max(last, at)
    except TimeoutError:
        pass  # what is still waited for was missed
    stream.close()
    return last - began, len(waiting)


def _kill_all(crowd: Crowd) -> float:
    """Reaped at once, beside: the shells above real agents do so."""
    began = time.perf_counter()
    members, crowd.members = crowd.members, []
    for member in members:
        member.kill()
    threading.Thread(target=lambda: [member.reap() for member in members]).start()
    return began


async def _bare(crowd: Crowd, database: Path | None) -> float:
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    left = len(crowd)
    connection = None if database is None else sqlite3.connect(database, isolation_level=None)
    if connection is not None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS deaths (pid INTEGER, at REAL)")

    def readable(pid: int, fd: int) -> None:
        nonlocal left
        loop.remove_reader(fd)
        os.close(fd)
        if connection is not None:
            connection.execute("INSERT INTO deaths VALUES (?, ?)", (pid, time.time()))
        left -= 1
        if not left:
            done.set()

    for member in crowd.members:
        own = os.dup(member.pidfd)  # the reaper closes the other
        loop.add_reader(own, readable, member.pid, own)
    began = await asyncio.to_thread(_kill_all, crowd)
    await done.wait()
    taken = time.perf_counter() - began
    if connection is not None:
        connection.close()
    return taken
