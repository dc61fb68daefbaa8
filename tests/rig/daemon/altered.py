"""Run as a wrapper of the real daemon: the same code with shorter times, another version, or a method that raises.

Rules of this file
  1. What is altered is set before anything of the daemon is imported, so that the whole daemon sees it.
  2. Nothing is altered that a test does not name: `ALTERED_TIMES="BODY_WITHIN=0.5 KEEP_ALIVE=1"`,
     `ALTERED_VERSION=0.0.1`, `ALTERED_BROKEN=headcount.daemon.observers.transcript_forks:TranscriptForks.noticed`.

Not here: starting it (real_daemon.py; `altered` below gives what it needs).
"""

import importlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WRAPPER = (sys.executable, "-m", "tests.rig.daemon.altered")


def environment(version: str | None = None, broken: str = "", **times: float) -> dict[str, str]:
    """What a daemon behind `WRAPPER` must be given."""
    own = os.pathsep.join((str(ROOT), str(ROOT / "src")))  # this tree's, whatever else is installed
    env = {"PYTHONPATH": own, "ALTERED_TIMES": " ".join(f"{name}={to}" for name, to in times.items())}
    env["ALTERED_BROKEN"] = broken
    return env if version is None else {**env, "ALTERED_VERSION": version}


def main() -> int:
    import headcount
    from headcount import times

    headcount.__version__ = os.environ.get("ALTERED_VERSION") or headcount.__version__
    for each in os.environ["ALTERED_TIMES"].split():
        name, _, to = each.partition("=")
        before = getattr(times, name)
        setattr(times, name, type(before)(float(to)))
    from headcount.daemon.main import main as daemon

    if broken := os.environ.get("ALTERED_BROKEN"):
        module, _, name = broken.partition(":")
        owner, _, method = name.partition(".")
        setattr(getattr(importlib.import_module(module), owner), method, _raises)
    sys.argv = [sys.argv[0], *sys.argv[sys.argv.index("headcount.daemon.main") + 1 :]]
    return daemon()


def _raises(*_: object) -> None:
    raise ValueError("broken by the test")


if __name__ == "__main__":
    sys.exit(main())
