"""Running a module as the first process of a pid namespace, where pids can be given out at will.

Rules of this file
  1. The module prints JSON lines: `{"at": …}` is progress, the last line is what was counted.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.campaign.outcome import Progress

ROOT = Path(__file__).parents[2]
UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def is_possible() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


def run_inside(module: str, *arguments: str, progress: Progress) -> dict[str, Any]:
    child = subprocess.Popen(
        [*UNSHARE, sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return heard(child, progress)


def heard(child: "subprocess.Popen[str]", progress: Progress) -> dict[str, Any]:
    """Its last line, once it has ended."""
    assert child.stdout is not None
    last: dict[str, Any] = {}
    for line in child.stdout:
        last = json.loads(line)
        if "at" in last:
            progress(last["at"])
    _, errors = child.communicate()
    assert child.returncode == 0, errors
    return last
