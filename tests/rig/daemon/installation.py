"""An installation of Headcount of its own: a copy of the package in a virtual environment, to be upgraded in place.

Rules of this file
  1. The daemon ignores PYTHONPATH, so a second installation needs an interpreter of its own: a venv without pip.
  2. Dependencies are those of the running tests.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

import headcount
from tests.rig.agents.commands_inside import Said


class Installation:
    def __init__(self, directory: Path, home: Path, source: Path | None = None) -> None:
        """`source`: the package that is copied; without it the one that is tested."""
        self.package = directory / "code" / "headcount"
        source = source or Path(headcount.__file__).parent
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        venv.create(directory / "venv", symlinks=True)
        self.python = str(directory / "venv" / "bin" / "python")
        library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        paths = f"{self.package.parent}\n{sysconfig.get_path('purelib')}\n"
        (directory / "venv" / library / "here.pth").write_text(paths)
        self.home = home
        home.mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH",)}
        self.env = {**kept, "HOME": str(home), "HEADCOUNT_HOME": str(home), "LANG": "C.UTF-8"}

    def command(self, *words: str) -> list[str]:
        return [self.python, "-m", "headcount", *words]

    def run(self, *words: str, within: tuple[str, ...] = ()) -> Said:
        """`within`: what the command runs through, such as a sandbox. Its first process stays while a daemon runs in it,
        and would keep a pipe open: the output goes to files."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            done = subprocess.run(
                [*within, *self.command(*words)],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=60,
            )
            out.seek(0)
            err.seek(0)
            return Said(done.returncode, out.read(), err.read())

    def upgrade(self, text: str) -> None:
        """Other code under the same version, as a `git pull` leaves it."""
        with (self.package / "times.py").open("a") as file:
            file.write(f"# {text}\n")
