"""Several daemons started at once on one home: exactly one serves, and the others say who.

Each round three rivals start together: daemons, `headcount up`, or both. Before it the last daemon was ended in order, or
killed with -9 so that its socket and its lock file are still there, or killed and its lock file removed too.

The control is the pid file of earlier daemons, raced by real processes: two serve, or none does, because the pid in the
file is somebody else's by now.
"""

import json
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways.pid_file_race import pid_file_rounds

ROUNDS = 500
RIVALS = 3
CONTROL_ROUNDS = 20
KINDS = ("daemons", "up", "both")
BEFORE = ("in order", "kill -9", "kill -9, lock file gone")
BUSY = 75


class Said(NamedTuple):
    """What one rival came to: whether it took the place, and whom it names."""

    serves: bool
    failed: bool
    named: int | None


class Campaign:
    def __init__(self, directory: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.home = Daemon(directory / "home")
        self._served: int | None = None
        self._pool = ThreadPoolExecutor(RIVALS)

    def round(self) -> None:
        kind = KINDS[self.counts["rounds"] % len(KINDS)]
        self._end_the_last(self.chance.choice(BEFORE))
        hows = {"daemons": [self._daemon] * RIVALS, "up": [self._up] * RIVALS}
        hows["both"] = [self._daemon, *[self._up] * (RIVALS - 1)]
        said = [future.result() for future in [self._pool.submit(how) for how in hows[kind]]]
        pid = int(self.home.get("/healthz")["pid"])
        eventually(lambda: living(self.home) == {pid}, within=30)
        self._served = pid
        self.counts["rounds"] += 1
        self.counts[kind] += 1
        self.counts["several"] += sum(each.serves for each in said) > 1
        self.counts["failed"] += sum(each.failed for each in said)
        self.counts["unnamed"] += sum(each.named != pid for each in said)
        self.counts["lost"] += sum(not each.serves for each in said)

    def close(self) -> None:
        self._end_the_last("in order")
        for pid in living(self.home):  # only where a promise was broken
            end(pid, signal.SIGKILL)
        self._pool.shutdown()

    def _end_the_last(self, how: str) -> None:
        if self._served is None:
            return
        self.counts[how] += 1
        number = signal.SIGTERM if how == "in order" else signal.SIGKILL
        end(self._served, number)
        self._served = None
        if how.endswith("gone"):
            (self.home.home / "headcount.lock").unlink()

    def _daemon(self) -> Said:
        """In the foreground, as a service starts it. It stays with us, or says busy and ends."""
        readable, writable = os.pipe()
        words = ["-m", "headcount.daemon.main", "--foreground", "--ready-fd", str(writable)]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, *words],
                env=self.home.env,
                pass_fds=(writable,),
                stdin=subprocess.DEVNULL,
                stderr=errors,
            )
            os.close(writable)
            with open(readable, "rb") as pipe:
                assert select.select([pipe], [], [], 60)[0], "a daemon said nothing"
                word = pipe.readline().decode().strip()
            if word == "ready":
                _kept.append(process)
                return Said(True, False, process.pid)
            code = process.wait(30)
            errors.seek(0)
            found = re.search(r"\(pid ([0-9]+)\)", errors.read().decode())
        return Said(False, word != "busy" or code != BUSY, int(found[1]) if found else None)

    def _up(self) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "headcount", "up", "--json"],
            env=self.home.env,
            capture_output=True,
            timeout=60,
        )
        if done.returncode != 0:
            return Said(False, True, None)
        return Said(False, False, int(json.loads(done.stdout)["pid"]))


_kept: list[
    "subprocess.Popen[bytes]"
] = []  # those that serve are our children, and are reaped when they ended


def end(pid: int, number: int) -> None:
    """Through a handle, and until it is over; ours are reaped."""
    handle = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(handle, number)
        assert select.select([handle], [], [], 30)[0], f"{pid} does not end"
    finally:
        os.close(handle)
    for process in [each for each in _kept if each.pid == pid]:
        process.wait(30)
        _kept.remove(process)


def living(home: Daemon) -> set[int]:
    """The daemons of that home that have not ended, by their environment."""
    mark = f"HEADCOUNT_HOME={home.home}".encode()
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (
                b"headcount.daemon.main" in (entry / "cmdline").read_bytes()
                and mark in (entry / "environ").read_bytes().split(b"\0")
                and b") Z " not in (entry / "stat").read_bytes()
            ):
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    control_rounds: int = CONTROL_ROUNDS,
) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        try:
            while campaign.counts["rounds"] < rounds and time.monotonic() - began < seconds:
                campaign.round()
                if campaign.counts["rounds"] % 10 == 0:
                    progress(f"double starts: round {campaign.counts['rounds']:,} of {rounds:,}")
        finally:
            campaign.close()
        several, nobody = pid_file_rounds(Path(directory) / "control", RIVALS, control_rounds)
    return _outcome(campaign.counts, several, nobody, rounds)


def _outcome(counts: Counter[str], several: int, nobody: int, rounds: int) -> Outcome:
    def none(what: str, name: str) -> Row:
        return Row(what, str(counts[name]), "0", counts[name] == 0)

    rows = (
        Row(f"rounds of {RIVALS} rivals", f"{counts['rounds']:,}", f"{rounds:,}, if there is time"),
        Row("  daemons / `headcount up` / both", " / ".join(f"{counts[kind]:,}" for kind in KINDS)),
        Row(
            "  the one before: ended in order / killed / killed, its lock file removed",
            " / ".join(f"{counts[how]:,}" for how in BEFORE),
        ),
        none("ours: rounds in which more than one served", "several"),
        none("ours: rivals that failed", "failed"),
        none("ours: rivals that did not name the one that serves", "unnamed"),
        Row("ours: rivals that found another", f"{counts['lost']:,}", "more than 0", counts["lost"] > 0),
        Row("control, a pid file: rounds in which several served, or none", f"{several} and {nobody}",
            "more than 0", several + nobody > 0),
    )  # fmt: skip
    note = "After each round there is one living daemon of that home in the process table, and it answers on the socket."
    return Outcome("double_starts", "Daemons started at once", rows, (note,))
