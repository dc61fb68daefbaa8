"""Disks that fail under a real daemon: errors at each write, a full disk, a read-only one, no inodes, no descriptors.

In each round one fault begins while agents report and claim, and ends again. While it lasts, the daemon must report it and
acknowledge nothing that is not on disk. Afterwards it must recover by itself, and after a kill -9 everything that it
acknowledged or announced must be there. The control is a daemon that answers before it has written.
"""

from typing import Any

from tests.campaign.in_pid_namespace import run_inside
from tests.campaign.outcome import Outcome, Progress, Row, none, some

ROUNDS = 40
KINDS = ("EIO", "now and then EIO", "full", "read-only", "inodes", "descriptors")


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    kinds: tuple[str, ...] = KINDS,
    control_rounds: int = 2,
) -> Outcome:
    found = run_inside(
        "tests.campaign.storage.disk_faults_inside",
        str(rounds),
        str(seed),
        str(seconds),
        ",".join(kinds),
        str(control_rounds),
        progress=progress,
    )
    return _outcome(found, rounds, kinds)


def _outcome(found: dict[str, Any], rounds: int, kinds: tuple[str, ...]) -> Outcome:
    rows = (
        Row("faults of the disk", f"{found['rounds']:,}", f"{rounds:,}, if there is time"),
        Row("  " + ", ".join(kinds), " / ".join(str(found["kinds"].get(kind, 0)) for kind in kinds)),
        Row("  of them with a kill -9 in the middle", f"{found['killed']:,}"),
        Row(
            "answered / refused, because it could not be stored",
            f"{found['answered']:,} / {found['refused']:,}",
        ),
        Row("events told on a stream", f"{found['told']:,}"),
        none("ours: acknowledged and lost", found["lost"]),
        none("ours: told to somebody, and not on the disk", found["told_lost"]),
        none("ours: faults that it did not say", found["unsaid"]),
        none("ours: faults after which it did not go on", found["stuck"]),
        none("ours: living sessions or their claims lost", found["evicted"]),
        none("ours: deaths meanwhile that were never told", found["dead_alive"]),
        none("ours: stores damaged or set aside", found["damaged"]),
        some("control, answering before it is written: acknowledged and lost", found["naive_lost"]),
    )
    return Outcome("disk_faults", "Disks that fail", rows, tuple(found["examples"]))
