"""Programs from npm, installed once for all runs and all workers of a run, in a cache of their own.

Rules of this file
  1. The version is always named: npm on an older Node silently picks an older one.
  2. One installer at a time; whoever waited finds it installed.
  3. What cannot be installed is None, and the tests that need it say so.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

INSTALL_WITHIN = 300
ANSWER_WITHIN = 60


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headcount-rig"


def installed(package: str, version: str, where: str, works: Callable[[Path], bool]) -> Path | None:
    """The directory with the programs of that package, in `where` of the cache; None when npm cannot."""
    prefix = cache() / where
    there = prefix / "node_modules" / ".bin"
    if works(there):
        return there
    if shutil.which("npm") is None:
        return None
    prefix.mkdir(parents=True, exist_ok=True)
    with open(prefix / ".installing", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not works(there):
            command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix)]
            subprocess.run([*command, f"{package}@{version}"], capture_output=True, timeout=INSTALL_WITHIN)
    return there if works(there) else None


def says(program: Path, *beginning: str) -> bool:
    """Whether `program --version` works and begins so."""
    try:
        told = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=ANSWER_WITHIN,
            env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0 and told.stdout.startswith(beginning)
