"""python -m bench.revisions REVISION: this tree beside an earlier revision, interleaved in one run.

Claims, `ps` and `claims` in a shell, the hook line, deaths, idle cost and the start. Each round measures the one and then the other, in
turns first; the medians of all rounds are compared. A change that costs more than a tenth is said, and the exit code tells.
"""

import argparse
import io
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figure import Figure, Row
from bench.home import introduce, scratch
from bench.numbers import median, ms
from bench.wheel import ROOT
from headcount.times import CENSUS_EVERY
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.installation import Installation
from tests.rig.daemon.real_daemon import Daemon

SESSIONS = 150
ROUNDS = 9
DEATHS = 5  # in a round
CALLS = 100
SHELLS = 5
HOOKS = 40
IDLE = 3  # times, each over a whole period of the census
TOLERATED = 1.10

PAIRS = """
import statistics, sys, time
from headcount import Client
took = []
with Client() as client:
    for _ in range(int(sys.argv[1])):
        began = time.perf_counter()
        with client.claim("task:bench", own=True):
            pass
        took.append(time.perf_counter() - began)
print(statistics.median(took))
"""
LINE = """
import sys
from pathlib import Path
try:
    from headcount.agents.installing.hook_line_mailbox import line
except ImportError:  # a revision whose modules were not in folders yet
    from headcount.agents.drop_line import line
print(line(Path(sys.argv[1]), only_while_listening=False))
"""


class Side:
    """One revision: its installation, its daemon, and what was measured of it."""

    def __init__(self, name: str, directory: Path, source: Path | None) -> None:
        self.name = name
        directory.mkdir()
        self.installed = Installation(directory, directory / "home", source)
        self.installed.run("up")
        self.daemon = Daemon(self.installed.home)  # only to ask: it runs already
        self.pid = int(self.daemon.get("/healthz")["pid"])
        self.line = self._python(LINE, str(self.daemon.mailbox)).strip()

    def claim(self) -> float:
        return float(self._python(PAIRS, str(CALLS)))

    def shell(self, verb: str) -> float:
        return median([_timed(lambda: self.installed.run(verb, "--json")) for _ in range(SHELLS)])

    def start(self) -> float:
        """Until `up` returns, with all sessions remembered."""
        self.installed.run("down")
        return _timed(lambda: self.installed.run("up"))

    def hook(self) -> float:
        return median([_timed(self._one_hook) for _ in range(HOOKS)])

    def death(self, crowd: Crowd) -> float:
        took = []
        for _ in range(DEATHS):
            member = crowd.take()
            with self.daemon.stream() as events:
                next(events)  # the snapshot
                began = time.perf_counter()
                member.kill()
                next(e for e in events if e.type == "session.ended" and member.conversation in e.data)
                took.append(time.perf_counter() - began)
            member.reap()
        return median(took)

    def cpu(self) -> float:
        """Seconds so far, all threads."""
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9

    def _one_hook(self) -> None:
        subprocess.run(["/bin/sh", "-c", self.line], input=b"{}", check=True)

    def _python(self, script: str, *words: str) -> str:
        command = [self.installed.python, "-c", script, *words]
        return subprocess.run(
            command, env=self.installed.env, check=True, capture_output=True, text=True
        ).stdout


def measure(revision: str) -> Figure:
    with (
        scratch() as directory,
        Crowd(directory / "agents", SESSIONS) as crowd,
        _sides(directory, revision) as sides,
    ):
        for side in sides:
            introduce(side.daemon, crowd.members)
        ways: dict[str, Callable[[Side], float]] = {
            "claim and release, Python client": Side.claim,
            "`ps --json` in a shell": lambda side: side.shell("ps"),
            "`claims --json` in a shell": lambda side: side.shell("claims"),
            "the hook line": Side.hook,
            "a death, until the stream tells": lambda side: side.death(crowd),
        }
        samples = {what: _interleaved(way, sides) for what, way in ways.items()}
        samples["idle, CPU a second"] = _idle(sides)
        samples["`up`, until it answers"] = _interleaved(Side.start, sides)
    rows = tuple(_row(what, *each) for what, each in samples.items())
    notes = (
        f"{ROUNDS} rounds, old and new in turns, {SESSIONS} sessions; medians. Both daemons run all the time.",
    )
    return Figure("revisions", f"This tree beside {revision}", (revision, "now", "ratio"), rows, notes)


def _interleaved(way: Callable[[Side], float], sides: "tuple[Side, Side]") -> tuple[list[float], list[float]]:
    samples: dict[str, list[float]] = {side.name: [] for side in sides}
    for nth in range(ROUNDS):
        for side in sides if nth % 2 else sides[::-1]:
            samples[side.name].append(way(side))
    old, new = sides
    return samples[old.name], samples[new.name]


def _idle(sides: "tuple[Side, Side]") -> tuple[list[float], list[float]]:
    """Of both at the same time: neither has anything to do."""
    seen = []
    for _ in range(IDLE):
        before = [side.cpu() for side in sides]
        time.sleep(CENSUS_EVERY)
        seen.append([(side.cpu() - was) / CENSUS_EVERY for side, was in zip(sides, before, strict=True)])
    return [old for old, _ in seen], [new for _, new in seen]


def _row(what: str, old: list[float], new: list[float]) -> Row:
    ratio = median(new) / median(old)
    cells = (ms(median(old)), ms(median(new)), f"×{ratio:.2f}")
    return Row(what, cells, f"at most ×{TOLERATED:.2f}", ratio <= TOLERATED)


@contextmanager
def _sides(directory: Path, revision: str) -> "Iterator[tuple[Side, Side]]":
    archive = subprocess.run(
        ["git", "archive", revision, "src/headcount"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(directory / "source", filter="data")
    old = Side("old", directory / "old", directory / "source" / "src" / "headcount")
    new = Side("new", directory / "new", None)
    try:
        yield old, new
    finally:
        for side in (old, new):
            side.installed.run("down")


def _timed(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.revisions", description=__doc__)
    parser.add_argument("revision", help="what to compare with, such as main~20")
    figure = measure(parser.parse_args().revision)
    print(figure.title, *figure.lines(), *(f"- {note}" for note in figure.notes), sep="\n")
    return 0 if all(row.met for row in figure.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
