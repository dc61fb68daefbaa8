"""`headcount ps` with 50 sessions: what a person waits for.

Beside it, in turns, so that all meet the same load: a bare interpreter, and `claude agents --json`, the agent's own list
of its sessions (in a home of its own, with nothing of the caller's environment).
"""

import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import introduce, scratch
from bench.numbers import median, ms, percentile, times
from bench.wheel import Install, install
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.real_agents.claude import installed as installed_claude

SESSIONS = 50
ROUNDS = 25
SHARE = 0.25


def measure() -> Figure:
    with scratch() as directory, Crowd(directory / "agents", SESSIONS) as crowd:
        install_ = install(directory)
        with Daemon(directory / "home") as daemon:
            introduce(daemon, crowd.members)
            samples = _take_turns(_commands(install_, directory, daemon.home))
    ours = median(samples["headcount ps"])
    theirs = samples.get(CLAUDE)
    rows = [
        Row(
            what,
            (ms(median(sample)), ms(percentile(sample, 0.9)), times(median(sample), ours)),
            *_target(what, ours, theirs),
        )
        for what, sample in samples.items()
    ]
    notes = (
        f"{SESSIONS} sessions, {ROUNDS} rounds in turns; the wheel in an environment of its own, bytecode compiled.",
        *(() if theirs else ("Claude Code is not installed by the rig here, so the comparison is missing.",)),
    )
    columns = ("median", "p90", "× `headcount ps`")
    return Figure("ps", "`headcount ps`", columns, tuple(rows), notes, tuple(_ratios(samples, ours)))


def _ratios(samples: dict[str, list[float]], ours: float) -> Iterator[Ratio]:
    for what in (CLAUDE, BARE):
        if what in samples:
            theirs = median(samples[what])
            target = _target("headcount ps", ours, samples[what]) if what == CLAUDE else ()
            yield Ratio(
                f"`headcount ps`, {SESSIONS} sessions",
                ms(ours),
                f"{what}: {ms(theirs)}",
                theirs / ours,
                *target,
            )


CLAUDE = "`claude agents --json`"
BARE = "`python -c pass`"


def _target(what: str, ours: float, theirs: list[float] | None) -> tuple[str, bool | None]:
    if what != "headcount ps" or theirs is None:
        return "", None
    return f"a quarter of {CLAUDE}: {ms(median(theirs) * SHARE)}", ours <= median(theirs) * SHARE


def _commands(made: Install, directory: Path, home: Path) -> dict[str, tuple[list[str], Mapping[str, str]]]:
    env = made.env(home)
    commands: dict[str, tuple[list[str], Mapping[str, str]]] = {
        "headcount ps": ([str(made.headcount), "ps"], env),
        "headcount ps --json": ([str(made.headcount), "ps", "--json"], env),
        BARE: ([str(made.python), "-c", "pass"], env),
        "  without its site": ([str(made.python), "-I", "-S", "-c", "pass"], env),
    }
    claude = installed_claude()
    if claude is not None:
        user = directory / "claude-user"
        user.mkdir()
        clean = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(user),
            "LANG": "C.UTF-8",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        commands[CLAUDE] = ([str(claude / "claude"), "agents", "--json"], clean)
    return commands


def _take_turns(commands: dict[str, tuple[list[str], Mapping[str, str]]]) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {what: [] for what in commands}
    for nth in range(ROUNDS + 1):
        for what, (command, env) in commands.items():
            began = time.perf_counter()
            subprocess.run(
                command, env=dict(env), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if nth:  # the first of each fills the page cache
                samples[what].append(time.perf_counter() - began)
    return samples
