"""A storm of signals while numbers change hands: a process is to be ended, and somebody innocent gets its pid before
the check, between check and signal, or during the grace period.
"""

from tests.campaign.in_pid_namespace import run_inside
from tests.campaign.outcome import Outcome, Progress, Row

ROUNDS = 10_000


def run(*, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS) -> Outcome:
    found = run_inside(
        "tests.campaign.processes.wrong_kill_inside", str(rounds), str(seed), str(seconds), progress=progress
    )
    rows = (
        Row("ends wanted", f"{found['ours']:,}", f"{rounds:,}, if there is time"),
        Row(
            "  of them with the pid given to another",
            f"{found['reused']:,}",
            "more than 0",
            found["reused"] > 0,
        ),
        Row("    before the check", f"{found['before the check']:,}"),
        Row("    between check and signal", f"{found['between check and signal']:,}"),
        Row("    during the grace period", f"{found['during the grace period']:,}"),
        Row("ours: signals that reached another process", str(found["wrong"]), "0", found["wrong"] == 0),
        Row("ours: living targets that were not ended", str(found["missed"]), "0", found["missed"] == 0),
        Row("ours: targets that got their signal", f"{found['right']:,}", "more than 0", found["right"] > 0),
        Row(
            "control, check and then os.kill: signals that reached another process",
            f"{found['naive_wrong']:,} of {found['naive']:,}",
            "more than 0",
            found["naive_wrong"] > 0,
        ),
    )
    return Outcome("wrong_kill", "Signals while pids are reused", rows)
