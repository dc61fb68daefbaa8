"""Agents' CLIs from npm, each version once in the cache, for all runs and all workers of a run.

Rules of this file
  1. The version is always named: npm on an older Node silently picks an older one.
  2. One installer at a time; the others wait and find it installed.
  3. What cannot be installed is None, and the tests say so in one visible line; nothing is half there.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

INSTALL_WITHIN = 300
ANSWER_WITHIN = 90


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headcount-rig"


def installed(package: str, version: str, program: str, within: float = INSTALL_WITHIN) -> Path | None:
    """The directory with that program of that version; None when npm cannot."""
    prefix = cache() / f"{package.rpartition('/')[2]}-{version}"
    there = prefix / "node_modules" / ".bin"
    if _works(there / program, version):
        return there
    if shutil.which("npm") is None:
        return None
    prefix.mkdir(parents=True, exist_ok=True)
    with open(prefix / ".installing", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _works(there / program, version):
            command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix)]
            subprocess.run([*command, f"{package}@{version}"], capture_output=True, timeout=within)
    return there if _works(there / program, version) else None


def _works(program: Path, version: str) -> bool:
    """Whether it says of itself that it is that version. Some write into their home even for that."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        try:
            told = subprocess.run(
                [program, "--version"],
                capture_output=True,
                text=True,
                timeout=ANSWER_WITHIN,
                env={"HOME": home, "PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return told.returncode == 0 and version in told.stdout
