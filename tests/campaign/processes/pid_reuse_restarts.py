"""Reused pids over restarts of a real daemon: it is killed, its agents end, other agents get their very pids.

Others here means: the same program under the same name, so that nothing but the incarnation tells them apart.
"""

from tests.campaign.in_pid_namespace import run_inside
from tests.campaign.outcome import Outcome, Progress, Row

REUSES = 1_000


def run(*, seed: int, seconds: float, progress: Progress, reuses: int = REUSES) -> Outcome:
    found = run_inside(
        "tests.campaign.processes.pid_reuse_restarts_inside",
        str(reuses),
        str(seed),
        str(seconds),
        progress=progress,
    )
    done = found["reuses"]
    rows = (
        Row("reuses over a restart", f"{done:,}", f"{reuses:,}, if there is time"),
        Row("restarts of a real daemon, by kill -9", f"{found['restarts']:,}"),
        Row("ours: the dead called alive", str(found["dead_alive"]), "0", found["dead_alive"] == 0),
        Row("ours: the living called dead", str(found["living_dead"]), "0", found["living_dead"] == 0),
        Row(
            "ours: a successor took over its predecessor's session",
            str(found["inherited"]),
            "0",
            found["inherited"] == 0,
        ),
        Row(
            "control, pid alone: the dead called alive",
            f"{found['pid_fooled']:,}",
            "more than 0",
            found["pid_fooled"] > 0,
        ),
        Row("pid and start time: the dead called alive", f"{found['start_fooled']:,}"),
    )
    notes = (
        "The start time changes between a registration and a reuse here; that it does not always is shown under Reused pids.",
    )
    return Outcome("pid_reuse_restarts", "Reused pids over restarts", rows, notes)
