"""Looking at a store from outside, and the naive one that answers too early."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")

LATE = """
import json, sys, time
kept = []
wrote = time.monotonic()
for line in sys.stdin:
    kept.append(line.strip())
    print("ok", flush=True)                      # answered
    if time.monotonic() - wrote > 0.05:          # and written when there is time, as snapshots are
        open(sys.argv[1], "w").write(json.dumps(kept))
        wrote = time.monotonic()
"""


@contextlib.contextmanager
def in_memory() -> Iterator[Path]:
    """A directory whose syncs cost nothing, where it only counts what was written and in which order."""
    with tempfile.TemporaryDirectory(
        prefix="headcount-campaign-", dir=MEMORY if MEMORY.is_dir() else None
    ) as made:
        yield Path(made)


def whole(database: Path) -> bool:
    """Checked on a copy with its log: the daemon is down, and its files are not to be touched."""
    with tempfile.TemporaryDirectory() as directory:  # its own disk may be full, which is the point
        copy = Path(directory) / database.name
        for end in ("", "-wal"):
            source = database.with_name(database.name + end)
            if source.exists():
                shutil.copy(source, copy.with_name(copy.name + end))
        connection = sqlite3.connect(copy)
        try:
            return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        finally:
            connection.close()


def journal_labels(database: Path) -> set[str]:
    """The label of every report that left an event."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT json_extract(body, '$.delta.turned.label') FROM events")
        return {label for (label,) in rows if label}
    finally:
        connection.close()


def late_writer_loses(path: Path) -> int:
    """How many answered words a store that writes after its answer has lost after a kill -9."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LATE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    answered = 0
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        child.stdin.write(f"{answered}\n")
        child.stdin.flush()
        answered += child.stdout.readline() == "ok\n"
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    try:
        stored = len(json.loads(path.read_text()))
    except (OSError, ValueError):
        stored = 0
    return answered - stored
