"""A day without any report: 200 idle sessions, 24 hours of virtual time, and everything that can go wrong.

The daemon is the real one (long_idle_inside.py) on a kernel in memory: restarts, kills, failed commits, overflows of inotify, a
census that misses, processes that cannot be read, no descriptors, stalls, a lid that is closed, a clock that is set. The
control is the rule of 180 s of silence on the same rows.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.campaign.in_pid_namespace import ROOT, heard
from tests.campaign.outcome import Outcome, Progress, Row, none
from tests.campaign.storage.store_from_outside import in_memory

HOURS = 24
SESSIONS = 200
FAULTS = (
    "restarts in order",
    "kills",
    "failed commits",
    "overflows of inotify",
    "censuses that missed",
    "processes not to be read",
    "no descriptor left",
    "stalls",
    "suspends",
    "clocks set",
)


def run(
    *, seed: int, seconds: float, progress: Progress, hours: float = HOURS, sessions: int = SESSIONS
) -> Outcome:
    with in_memory() as home:
        (home / "user").mkdir()
        env = {
            "HOME": str(home / "user"),
            "HEADCOUNT_HOME": str(home),
            "PATH": str(Path(os.devnull) / "nothing"),  # no tmux, no git: what they would say takes real time
            "PYTHONPATH": f"{ROOT}/src:{ROOT}",
        }
        argv = [
            sys.executable,
            "-m",
            "tests.campaign.daemon.long_idle_inside",
            str(hours),
            str(sessions),
            str(seed),
            str(seconds),
            str(home),
        ]
        with subprocess.Popen(
            argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            found = heard(child, progress)
    counts: Counter[str] = Counter(found["counts"])
    rows = (
        Row("hours of virtual time", f"{found['hours']:.1f}", f"{hours:g}, if there is time"),
        Row("idle sessions", f"{sessions:,}"),
        Row("faults", f"{counts['faults']:,}"),
        Row("  " + ", ".join(FAULTS), " / ".join(str(counts[name]) for name in FAULTS)),
        Row("looks at sessions", f"{counts['looks']:,}"),
        Row("agents that really ended meanwhile", f"{counts['deaths']:,}"),
        none("ours: false evictions", counts["evicted"]),
        none("ours: freed claims of the living", counts["freed"]),
        none("ours: still in doubt when all faults were over", counts["doubted"]),
        none("ours: the dead called alive", counts["dead_alive"]),
        Row(
            "control, a rule of 180 s of silence: living sessions evicted",
            f"{found['silent']:,}",
            "all",
            found["silent"] == sessions,
        ),
    )
    return Outcome("long_idle", "A day of silence", rows, tuple(found["examples"]))
