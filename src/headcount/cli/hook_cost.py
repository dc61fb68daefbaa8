"""The cost of a hook, measured where it is paid: on this machine, by the exact line that agents run.

Rules of this file
  1. The line is the installed one in all but its directory, which is a fresh one beside the mailbox, on the same disk:
     nobody reads the trial as a report. It is removed.
  2. Beside it the same shell doing nothing, so that one sees what of it is ours.
  3. A median: one slow run on a busy machine says nothing.

Not here: the line (agents/installing/shell_lines.py), what is concluded (cli/doctor/environment_checks.py).
"""

import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

RUNS = 20
PAYLOAD = b'{"hook_event_name": "PreToolUse", "tool_input": {"command": "' + b"x" * 500 + b'"}}'


class HookCost(NamedTuple):
    line: float  # the median, in seconds
    bare: float  # of a shell that does nothing
    runs: int


def measure(state: Path, runs: int = RUNS) -> HookCost | None:
    """None: it cannot be measured here (no state directory yet, no shell)."""
    from headcount.agents.installing.shell_lines import FLAG, SHELL, Unquotable, line

    try:
        place = Path(tempfile.mkdtemp(prefix="trial-", dir=state))
    except OSError:
        return None
    try:
        (place / FLAG).touch()
        ours = [SHELL, "-c", line(place, only_while_listening=True)]
        nothing = [SHELL, "-c", "exit 0"]
        taken = [(_once(nothing), _once(ours)) for _ in range(runs)]  # by turns: both meet the same load
        return HookCost(
            statistics.median(ours for _, ours in taken), statistics.median(bare for bare, _ in taken), runs
        )
    except (OSError, Unquotable, subprocess.SubprocessError):
        return None
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _once(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=PAYLOAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
