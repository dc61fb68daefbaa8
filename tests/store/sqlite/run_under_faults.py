"""Running the writing process under a fault, and reading what it said."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STORAGE = "pwrite64,fdatasync,fsync,rename,ftruncate"


def writer(path: Path, count: int, *ways: str) -> list[str]:
    return [sys.executable, "-m", "tests.store.sqlite.committing_process", str(path), str(count), *ways]


def strace(*options: str) -> list[str]:
    found = shutil.which("strace")
    if found is None:
        pytest.fail("strace is missing: `apt install strace` (this test injects faults with it)")
    return [found, "-f", "-qq", *options]


def run(command: list[str], check: bool = False) -> list[list[str]]:
    """What the process said, as words. It may have been killed in the middle."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    if check and done.returncode != 0:
        pytest.fail(f"{command} failed: {done.stderr}")
    return [line.split() for line in done.stdout.splitlines() if line.count(" ") in (1, 2)]


def acknowledged(said: list[list[str]]) -> list[int]:
    return [int(words[1]) for words in said if words[0] == "ack"]


def faults(said: list[list[str]]) -> list[tuple[str, int]]:
    return [(words[1], int(words[2])) for words in said if words[0] == "fault"]
