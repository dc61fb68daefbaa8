"""What can be done to the files of a home under its running daemon, by their owner, a backup or a cleaner.

Rules of this file
  1. Each pull is one thing done to one of our files. What is taken out of the home lies beside it.
  2. The control is the real daemon with its looks switched off when its interpreter starts.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.rig.daemon.real_daemon import Daemon

Pull = Callable[[Path], object]
FILES = {
    "store": "headcount.db",
    "log": "headcount.db-wal",
    "lock": "headcount.lock",
    "settings": "config.toml",
}

BLIND = """
from headcount.daemon.home import store_marks as witness
from headcount.daemon.home.home_watch import HomeWatch
from headcount.store.sqlite.file_identity import StoreFiles
StoreFiles.look = lambda self: None
HomeWatch.look = lambda self: None
witness.why_lost = lambda places: None
witness.why_older = lambda places, fence: None
"""


def blind_daemon(home: Path) -> Daemon:
    site = home.parent / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(BLIND)
    before = os.environ.get("PYTHONPATH")
    return Daemon(home, PYTHONPATH=os.pathsep.join([str(site), *([before] if before else [])]))


def _older(path: Path) -> None:
    copy = path.parent.with_name("older")
    shutil.copy(path, copy)
    copy.rename(path)


def _other(path: Path) -> None:
    other = path.parent.with_name("other")
    other.write_text("nothing = of headcount's\n" * 99)
    other.rename(path)


def _copied(home: Path) -> None:
    shutil.copytree(home, home.with_name("copy"), ignore=shutil.ignore_patterns("*.sock"))
    home.rename(home.with_name("elsewhere"))
    home.with_name("copy").rename(home)


def _file_in_its_place(path: Path) -> None:
    """The daemon makes its mailbox again: until ours came first."""
    other = path.parent.with_name("other")
    other.write_text("no directory")
    while other.exists():
        shutil.rmtree(path, ignore_errors=True)
        with suppress(IsADirectoryError):
            other.rename(path)


def _of(name: str) -> dict[str, Pull]:
    return {
        "removed": lambda home: (home / name).unlink(),
        "moved": lambda home: (home / name).rename(home.with_name("elsewhere")),
        "truncated": lambda home: os.truncate(home / name, 0),
        "cut in half": lambda home: os.truncate(home / name, (home / name).stat().st_size // 2),
        "replaced by a copy": lambda home: _older(home / name),
        "replaced": lambda home: _other(home / name),
        "made read-only": lambda home: (home / name).chmod(0o400),
    }


def remove_home(home: Path) -> None:
    """As a person does it. Nothing of it is made again in between, or this fails."""
    shutil.rmtree(home)


PULLS: dict[str, dict[str, Pull]] = {
    **{what: _of(name) for what, name in FILES.items()},
    "home": {
        "removed": remove_home,
        "moved": lambda home: home.rename(home.with_name("elsewhere")),
        "replaced by a copy": _copied,
        "all but directories removed": lambda home: [each.unlink() for each in home.glob("headcount.*")],
        "made read-only": lambda home: home.chmod(0o500),
    },
    "socket": {
        "removed": lambda home: (home / "headcount.sock").unlink(),
        "moved": lambda home: (home / "headcount.sock").rename(home.with_name("elsewhere")),
        "replaced": lambda home: _other(home / "headcount.sock"),
        "made read-only": lambda home: (home / "headcount.sock").chmod(0o400),
    },
    "mailbox": {
        "removed": lambda home: shutil.rmtree(home / "mailbox", ignore_errors=True),
        "moved": lambda home: (home / "mailbox").rename(home.with_name("elsewhere")),
        "replaced": lambda home: _file_in_its_place(home / "mailbox"),
        "made read-only": lambda home: (home / "mailbox").chmod(0o500),
    },
}
