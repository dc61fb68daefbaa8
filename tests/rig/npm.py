"""Agents' CLIs from npm, each version once in the cache.

Rules of this file
  1. The version is always named: npm on an older Node silently picks an older one.
  2. What cannot be installed is None, and the tests say so in one visible line; nothing is half there.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.rig.claude import cache


def installed(package: str, version: str, program: str, within: float = 300.0) -> Path | None:
    """The directory with that program of that version; None when npm cannot."""
    prefix = cache() / f"{package.rpartition('/')[2]}-{version}"
    there = prefix / "node_modules" / ".bin"
    if not _works(there / program, version):
        if shutil.which("npm") is None:
            return None
        prefix.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix)]
        subprocess.run([*command, f"{package}@{version}"], capture_output=True, timeout=within)
    return there if _works(there / program, version) else None


def _works(program: Path, version: str) -> bool:
    env = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    try:
        told = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=90,
            env=env,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0 and version in told.stdout
