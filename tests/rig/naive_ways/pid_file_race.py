"""The pid file raced by real processes: the negative control of one daemon a home (accident H1).

Rules of this file
  1. Every second round the file is left from a daemon that was killed, and its pid is a stranger's by now.
  2. Rivals wait for one word and look at the same moment.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

RIVAL = """
import os, sys
from pathlib import Path
from tests.rig.naive_ways.naive import PidFile
file = PidFile(Path(sys.argv[1]))
print("here", flush=True)
sys.stdin.readline()
serves = file.may_start()
if serves:
    file.write(os.getpid())
print("serves" if serves else "busy", flush=True)
sys.stdin.read()
"""


def pid_file_rounds(directory: Path, rivals: int, rounds: int) -> tuple[int, int]:
    """In how many rounds several served, and in how many none did."""
    directory.mkdir(parents=True)
    several = nobody = 0
    for nth in range(rounds):
        file = directory / f"{nth}.pid"
        with subprocess.Popen(["sleep", "infinity"]) as stranger:
            if nth % 2:
                file.write_text(str(stranger.pid))
            served = _race(file, rivals)
            stranger.kill()
        several += served > 1
        nobody += served == 0
    return several, nobody


def _race(file: Path, rivals: int) -> int:
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, str(file)], cwd=ROOT, stdin=pipe, stdout=pipe, text=True
        )
        for _ in range(rivals)
    ]
    for each in processes:
        assert each.stdout is not None and each.stdout.readline() == "here\n"
    for each in processes:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    words = [each.stdout.readline() for each in processes if each.stdout is not None]
    for each in processes:
        each.communicate()
    return words.count("serves\n")
