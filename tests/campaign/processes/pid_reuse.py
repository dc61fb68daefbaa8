"""A storm of reused pids: a process ends, its number is given to another at once, and we are asked for the first.

In most rounds the watching adapter lives on, as in a running daemon; in every seventh it is closed before the end and
another one is made afterwards, as over a restart.
"""

from tests.campaign.in_pid_namespace import run_inside
from tests.campaign.outcome import Outcome, Progress, Row

ROUNDS = 10_000


def run(*, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS) -> Outcome:
    found = run_inside(
        "tests.campaign.processes.pid_reuse_inside", str(rounds), str(seed), str(seconds), progress=progress
    )
    done = found["rounds"]
    rows = (
        Row("reuses forced", f"{done:,}", f"{rounds:,}, if there is time"),
        Row("  of them while no daemon watched", f"{found['away']:,}"),
        Row("  of them within one clock tick", f"{found['same_tick']:,}"),
        Row("ours: the dead called alive", str(found["dead_alive"]), "0", found["dead_alive"] == 0),
        Row("ours: the living called dead", str(found["living_dead"]), "0", found["living_dead"] == 0),
        Row("ours: deaths not told, or told twice", str(found["mistold"]), "0", found["mistold"] == 0),
        Row(
            "control, pid alone: the dead called alive",
            f"{found['pid_fooled']:,}",
            "more than 0",
            found["pid_fooled"] > 0,
        ),
        Row(
            "control, pid and start time: the dead called alive",
            f"{found['start_fooled']:,}",
            "more than 0",
            found["start_fooled"] > 0,
        ),
    )
    return Outcome("pid_reuse", "Reused pids", rows)
