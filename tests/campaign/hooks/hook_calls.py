"""The hook line with the daemon up, down, hung and its disk full: it exits 0, prints nothing, and is over in time.

Each state gets a fourth of the calls, with payloads from nothing to a megabyte, of lifecycle and of tool events. Afterwards
everything that could be written is read: nothing waits in the mailbox.

The control is a hook that asks the daemon with curl: it prints the answer, fails without a daemon, and waits for a hung one.
"""

import random
import signal
import statistics
import tempfile
import time
from pathlib import Path

from tests.campaign.hooks.call_hook_line import AGENTS, Calls, naive_calls, some_calls
from tests.campaign.in_pid_namespace import is_possible, run_inside
from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.daemon.real_daemon import Daemon, eventually

CALLS = 10_000
NAIVE_CALLS = 4  # of each state; one with a hung daemon takes all the time that there is
UP, DOWN, HUNG, FULL = "up", "down", "hung (SIGSTOP)", "disk full"
PIECE = 250


class Campaign:
    def __init__(self, directory: Path, seed: int, until: float, progress: Progress) -> None:
        self.daemon = Daemon(directory / "home")
        self.disk = directory / "disk"
        self.seed = seed
        self.chance = random.Random(seed)
        self.ours = {state: Calls() for state in (UP, DOWN, HUNG, FULL)}
        self.theirs = {state: Calls() for state in (UP, DOWN, HUNG, FULL)}
        self._until = until
        self._progress = progress

    def run(self, each: int, naive: int) -> None:
        self.daemon.ready()
        try:
            self._state(UP, each, naive)
            self._drained()
            self.daemon.kill()
            self._state(DOWN, each, naive)
            self.daemon.ready()
            self._drained()
            self.daemon.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]
            self._state(HUNG, each, naive)
            self.daemon.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]
            self._drained()
        finally:
            self.daemon.stop()
        if is_possible():
            self._full(each, naive)

    def _state(self, state: str, count: int, naive: int) -> None:
        for done in range(0, count, PIECE):
            if time.monotonic() > self._until:
                break
            some_calls(self.daemon.mailbox, self.chance, min(PIECE, count - done), self.ours[state])
            self._progress(f"hook calls: {done + PIECE:,} of {count:,} with the daemon {state}")
        naive_calls(self.daemon.socket, self.chance, naive, self.theirs[state])

    def _full(self, count: int, naive: int) -> None:
        self.disk.mkdir()
        found = run_inside(
            "tests.campaign.hooks.hook_calls_inside",
            *(str(word) for word in (self.disk, self.seed, count, naive)),
            progress=self._progress,
        )
        self.ours[FULL], self.theirs[FULL] = Calls.of_data(found["ours"]), Calls.of_data(found["theirs"])

    def _drained(self) -> None:
        """Every report that was dropped is read; what stays would be a lost event."""
        eventually(lambda: not self._left(), within=120)

    def _left(self) -> list[Path]:
        places = [self.daemon.mailbox, *(self.daemon.mailbox / agent for agent in AGENTS)]
        found = [path for place in places if place.is_dir() for path in place.iterdir()]
        return [path for path in found if path.is_file() and not path.name.startswith(".")]


def run(
    *, seed: int, seconds: float, progress: Progress, calls: int = CALLS, naive_calls: int = NAIVE_CALLS
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed, time.monotonic() + seconds, progress)
        campaign.run(calls // 4, naive_calls)
    return _outcome(campaign, calls)


def _outcome(campaign: Campaign, calls: int) -> Outcome:
    ours = list(campaign.ours.values())

    def total(name: str) -> int:
        return sum(each.counts[name] for each in ours)

    def none(what: str, name: str) -> Row:
        return Row(what, str(total(name)), "0", total(name) == 0)

    harm = {
        state: f"{each.counts['harmful']} of {each.counts['calls']}"
        for state, each in campaign.theirs.items()
    }
    harmful = sum(each.counts["harmful"] for each in campaign.theirs.values())
    rows = (
        Row("calls of the installed line", f"{total('calls'):,}", f"{calls:,}, if there is time"),
        Row("  with the daemon " + " / ".join(campaign.ours), " / ".join(f"{each.counts['calls']:,}" for each in ours)),
        none("ours: exits other than 0", "exited"),
        none("ours: calls that printed anything", "printed"),
        none("ours: calls that the agent would have ended (5 s)", "late"),
        *(Row(f"  median / p99 / slowest, {state}", _times(each)) for state, each in campaign.ours.items()),
        Row("control, a curl hook: calls that fail, print or are late", "; ".join(f"{state} {said}" for state, said in
            harm.items()), "more than 0", harmful > 0),
    )  # fmt: skip
    notes = (
        "A time is that of a whole call with its shell, started from Python on a busy machine; the line's own cost is in "
        "the [benchmarks](benchmarks.md#what-being-watched-costs-an-agent).",
        "After each state but the full disk every report that was dropped was read: the mailbox was empty.",
    )
    return Outcome("hook_calls", "Hooks, whatever state the daemon is in", rows, notes)


def _times(calls: Calls) -> str:
    if len(calls.took) < 2:
        return "not run"
    marks = (statistics.median(calls.took), statistics.quantiles(calls.took, n=100)[98], max(calls.took))
    return " / ".join(f"{each * 1000:.1f} ms" for each in marks)
