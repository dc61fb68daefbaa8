"""A start: from the command to "ready", with journals of 0, ten thousand and a million events.

Beside it: a bare interpreter, and a start that replays the journal (folding a million events) instead of
reading rows.
"""

import os
import select
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import scratch
from bench.numbers import median, ms, times
from bench.wheel import Install, install

ROUNDS = 9
JOURNALS = (0, 10_000, 1_000_000)
WITHIN = 0.4


def measure() -> Figure:
    with scratch() as directory:
        installed = install(directory)
        rows, readies = [], {}
        bare = median([_timed([str(installed.python), "-I", "-S", "-c", "pass"]) for _ in range(ROUNDS)])
        for size in JOURNALS:
            home = directory / f"home-{size}"
            _fill(installed, home, size)
            ready = [_ready(installed, home) for _ in range(ROUNDS)]
            readies[size] = median(ready)
            up = [_up(installed, home) for _ in range(ROUNDS)]
            rows.append(_row(f"daemon ready, {size:,} events", ready, bare, "0.4 s", median(ready) < WITHIN))
            rows.append(_row(f"`headcount up`, {size:,} events", up, bare, "0.4 s", median(up) < WITHIN))
        fold = [_fold(directory / f"home-{JOURNALS[-1]}") for _ in range(2)]
        rows.append(_row(f"reading and parsing {JOURNALS[-1]:,} events instead", fold, bare))
        rows.append(_row("bare CPython", [bare], bare))
    notes = (
        f"{ROUNDS} starts each, medians; the wheel in an environment of its own, its bytecode compiled.",
        "Ready is the daemon's own word on its pipe, after recovery was committed and the socket listens.",
    )
    longest, replayed = readies[JOURNALS[-1]], median(fold)
    ratio = Ratio(
        f"ready with {JOURNALS[-1]:,} events",
        ms(longest),
        f"reading them instead: {ms(replayed)}",
        replayed / longest,
        ms(WITHIN),
        longest < WITHIN,
    )
    columns = ("median", "slowest", "× bare CPython")
    return Figure("start", "From a start to ready", columns, tuple(rows), notes, (ratio,))


def _row(what: str, sample: list[float], bare: float, target: str = "", met: bool | None = None) -> Row:
    return Row(what, (ms(median(sample)), ms(max(sample)), times(median(sample), bare)), target, met)


def _fill(installed: Install, home: Path, size: int) -> None:
    """A store with that many events: made by the daemon, filled beside it while nobody has it open."""
    _ready(installed, home)
    if not size:
        return
    connection = sqlite3.connect(home / "headcount.db", isolation_level=None)
    first = connection.execute("SELECT max(seq) FROM events").fetchone()[0] + 1
    body = (
        b'{"delta":{"turned":{"at":%d,"turn":"tool","event":"PreToolUse","source":"hook","waiting_on":null,'
        b'"label":"Bash: npm test","failure":null},"last_event_at":%d}}'
    )
    now = time.time()
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO events (seq, at, type, session, body) VALUES (?, ?, 'session.activity', ?, ?)",
        (
            (
                first + nth,
                now - (size - nth),
                f"{nth % 200:012x}",
                body % (now - size + nth, now - size + nth),
            )
            for nth in range(size)
        ),
    )
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _ready(installed: Install, home: Path) -> float:
    readable, writable = os.pipe()
    began = time.perf_counter()
    daemon = subprocess.Popen(
        [
            str(installed.python),
            "-E",
            "-P",
            "-m",
            "headcount.daemon.main",
            "--foreground",
            "--ready-fd",
            str(writable),
        ],
        env=installed.env(home),
        pass_fds=(writable,),
    )
    os.close(writable)
    assert select.select([readable], [], [], 30)[0]
    taken = time.perf_counter() - began
    assert os.read(readable, 100) == b"ready\n"
    os.close(readable)
    daemon.terminate()
    daemon.wait(10)
    return taken


def _up(installed: Install, home: Path) -> float:
    began = time.perf_counter()
    subprocess.run([str(installed.headcount), "up"], env=installed.env(home), check=True, capture_output=True)
    taken = time.perf_counter() - began
    subprocess.run(
        [str(installed.headcount), "down"], env=installed.env(home), check=True, capture_output=True
    )
    return taken


def _fold(home: Path) -> float:
    program = (
        "import sqlite3, sys, msgspec\n"
        "decode = msgspec.json.decode\n"
        "rows = {}\n"
        "for seq, session, body in sqlite3.connect(sys.argv[1]).execute('SELECT seq, session, body FROM events'):\n"
        "    rows.setdefault(session, {}).update(decode(body).get('delta', {}))\n"
    )
    return _timed([sys.executable, "-c", program, str(home / "headcount.db")])


def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began
