"""Callers that give up at random points: nothing stays held, and the next block on the item owns it.

The holder is a process that lives on. A round asks for an item and gives up between 0 and 4 ms later: a cancelled task, a
signal handler that raises, a connection that ends unread, a wait that is cancelled as it is granted, a daemon that is
stopped for longer than its client waits, a daemon that is killed. `headcount claim` is ended by SIGINT inside an agent.

The control is the client as it was: it raises, and withdraws nothing.
"""

import json
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.claims.giving_up_inside import WAYS
from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.rig.agents.commands_inside import command, environment, settled, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

ROUNDS = 10_000
CONTROL_ROUNDS = 200
CTRL_C_EVERY = 100  # rounds for each `headcount claim` that is ended
TOLD = 0


def worker(
    home: Path, seed: int, rounds: int, seconds: float, naive: bool, progress: Progress
) -> Counter[str]:
    daemon = Daemon(home).ready()
    words = [sys.executable, "-m", "tests.campaign.claims.giving_up_inside"]
    given = (str(seed), str(rounds), str(min(seconds, 86_400.0)), str(int(naive)))
    counts: dict[str, int] = {}
    with subprocess.Popen(
        [*words, *given], env=environment(daemon), stdout=subprocess.PIPE, text=True
    ) as runs:
        assert runs.stdout is not None
        for line in runs.stdout:
            counts = json.loads(line)
            progress(f"giving up: {counts['rounds']:,} of {rounds:,}")
    assert runs.returncode == 0
    daemon.stop()
    subprocess.run(command("down"), env=environment(daemon), capture_output=True, timeout=60, check=False)
    return Counter(counts)


def ctrl_c(directory: Path, seed: int, rounds: int) -> Counter[str]:
    """`headcount claim` inside an agent, ended at a random moment: its exit code says whether the agent has the item."""
    chance, counts, item = random.Random(seed), Counter[str](), "task:interrupted"
    with Daemon(directory / "home") as daemon:
        agent = Agent(directory / "agents")
        try:
            settled(agent, daemon)
            for nth in range(rounds):
                if nth % 10 == 0:  # how long it takes changes with the load
                    usual = _usual(agent, daemon, item)
                after = f"{chance.uniform(0.6, 1.1) * usual:.4f}"
                line = shlex.join(
                    ("timeout", "--preserve-status", "-s", "INT", after, *command("claim", item))
                )
                code = shell(agent, daemon, f"{line} --json").code
                is_held = bool(daemon.get("/v1/claims")["claims"])
                counts["Ctrl-C"] += 1
                counts["Ctrl-C: gave up"] += code != TOLD
                counts["Ctrl-C: left"] += _is_left(daemon, code, is_held)
                if daemon.get("/v1/claims")["claims"]:
                    shell(agent, daemon, shlex.join(command("release", item)))
        finally:
            agent.close()
    return counts


def _usual(agent: Agent, daemon: Daemon, item: str) -> float:
    began = time.monotonic()
    shell(agent, daemon, shlex.join(command("claim", item)))
    taken = time.monotonic() - began
    shell(agent, daemon, shlex.join(command("release", item)))
    return taken


def _is_left(daemon: Daemon, code: int, is_held: bool) -> bool:
    if code == TOLD:
        return not is_held
    try:
        eventually(lambda: not daemon.get("/v1/claims")["claims"])
    except AssertionError:
        return True
    return False


def _which(counts: Counter[str]) -> str:
    found = [way for way in (*WAYS, "Ctrl-C") if counts[f"{way}: left"]]
    return f" ({', '.join(found)})" if found else ""


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    control_rounds: int = CONTROL_ROUNDS,
) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as made:
        directory = Path(made)
        ended = ctrl_c(directory / "cli", seed, max(2, rounds // CTRL_C_EVERY))
        left = seconds - (time.monotonic() - began)
        ours = worker(directory / "ours", seed, rounds, left, False, progress) + ended
        control = worker(directory / "control", seed, control_rounds, seconds, True, progress)
    gave_up = sum(ours[f"{way}: gave up"] for way in (*WAYS, "Ctrl-C"))
    rows = (
        Row("callers that gave up", f"{gave_up:,}", f"{rounds:,}, if there is time"),
        *(Row(f"  {way}: gave up, of so many", f"{ours[f'{way}: gave up']:,} of {ours[way]:,}") for way in (*WAYS, "Ctrl-C")),
        none(f"ours: claims left behind, or not owned by the next block{_which(ours)}", ours["left"] + ours["Ctrl-C: left"]),
        none("ours: held at the end", ours["held at the end"]),
        some("control, a client that withdraws nothing: claims left behind", control["left"]),
    )  # fmt: skip
    note = "The daemon is the same for the control: it sees by itself that an answer was not read, and nothing more."
    return Outcome("giving_up", "Callers that give up", rows, (note,))
