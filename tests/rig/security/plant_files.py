"""Planting: links, pipes and foreign files in the places where Headcount keeps its own, and a bait at their other end.

Rules of this file
  1. A bait is a file and a directory of the person's. Whatever is planted leads there, and afterwards both must be as before.
  2. A planting is made before the daemon starts, as an attacker would.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SECRET = "bait-5ecret"
FILES = ("headcount.lock", "headcount.sock", "headcount.db", "headcount.db-wal", "headcount.db-shm", "headcount.db.suspect",
         "log/headcount.log", "log/stacks.txt", "mailbox/.listening", "mailbox/4.5", "fleet.json",
         "fleet.pass", "host-id")  # fmt: skip
SETTINGS = "user/.claude/settings.json"  # another tool's: a link there stays, and what it leads to must be understood
DIRECTORIES = ("mailbox", "mailbox/codex", "tokens", "log", "hooks")


class Bait:
    def __init__(self, directory: Path) -> None:
        self.directory = directory / "bait"
        self.directory.mkdir(parents=True)
        self.file = self.directory / "private.txt"
        self.file.write_text(SECRET)
        (self.directory / "letter.json").write_text(f'{{"session_id": "{SECRET}"}}')
        self._before = self._now()

    @property
    def is_unharmed(self) -> bool:
        return self._now() == self._before

    def _now(self) -> dict[str, tuple[bytes, int, int]]:
        return {
            path.name: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
            for path in self.directory.iterdir()
        }


def _to_file(place: Path, bait: Bait) -> None:
    place.symlink_to(bait.file)


def _to_nothing(place: Path, bait: Bait) -> None:
    place.symlink_to(bait.directory / "made-by-headcount")


def _second_name(place: Path, bait: Bait) -> None:
    os.link(bait.file, place)


def _pipe(place: Path, bait: Bait) -> None:
    os.mkfifo(place, 0o600)


def _to_directory(place: Path, bait: Bait) -> None:
    place.symlink_to(bait.directory)


KINDS: dict[str, Callable[[Path, Bait], None]] = {
    "a link to a file": _to_file,
    "a link to nothing": _to_nothing,
    "a second name of a file": _second_name,
    "a pipe": _pipe,
    "a link to a directory": _to_directory,
}

PLANTINGS = [
    *((place, kind) for place in FILES for kind in KINDS),
    *((place, "a link to a directory") for place in DIRECTORIES),
    *((SETTINGS, kind) for kind in KINDS if kind != "a link to nothing"),
]


def plant(home: Path, place: str, kind: str, bait: Bait) -> None:
    path = home / place
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    KINDS[kind](path, bait)


NAIVE = """
import sys
from pathlib import Path
place = Path(sys.argv[1])
if place.is_dir():
    for each in place.iterdir():
        each.unlink()             # "a report that cannot be read"
else:
    print(place.read_text() if place.exists() else "")
    with open(place, "a") as file:
        file.write("started\\n")
"""


def naive_harms(directory: Path) -> int:
    """In how many of the kinds a program that just opens its file harms the bait, tells it, or hangs."""
    harmed = 0
    for nth, kind in enumerate(KINDS):
        home = directory / str(nth)
        bait = Bait(home)
        plant(home, "log.txt", kind, bait)
        told = ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", NAIVE, str(home / "log.txt")],
                capture_output=True,
                text=True,
                timeout=2,
            )
            told = done.stdout
            harmed += not bait.is_unharmed or SECRET in told
            continue
        harmed += 1
    return harmed
