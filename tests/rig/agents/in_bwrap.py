"""Stand-in agents behind mounts: in bwrap, with a directory of the test's under another name.

Rules of this file
  1. The sandbox sees all of the host's files, the socket and the mailbox among them, but for the directories that are
     bound over others. So what differs is what a path leads to, and nothing else.
  2. It needs bwrap and a kernel that lets us make a mount namespace; without them the tests are skipped.
"""

import os
import shutil
import signal
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.stand_in import Agent, program

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bwrap (bubblewrap)")
Bind = tuple[Path, Path]  # what is seen, and under which name


def behind(*binds: Bind, more: tuple[str, ...] = ()) -> list[str]:
    """The words before a command that sees those directories under other names."""
    words = [str(word) for here, there in binds for word in ("--bind", here, there)]
    return ["bwrap", "--dev-bind", "/", "/", "--die-with-parent", *more, *words]


class Sandboxed(Agent):
    """Works in `works_in`, by the name inside; what the rig needs beside that is in `directory`, the same for all.
    `enter`: not in a sandbox of its own, but in that agent's mount namespace."""

    def __init__(
        self,
        directory: Path,
        works_in: Path,
        *binds: Bind,
        more: tuple[str, ...] = (),
        enter: "Sandboxed | None" = None,
    ) -> None:
        self.conversation = str(uuid.uuid4())
        self.cwd = directory
        self.works_in = works_in
        wrapper = [*behind(*binds, more=more), "--chdir", str(works_in)]
        if enter is not None:
            wrapper = ["nsenter", f"--mount=/proc/{enter.inner}/ns/mnt", f"--wd={works_in}"]
        self.process = subprocess.Popen(
            [*wrapper, str(program(directory)), "-s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(directory)},
            text=True,
        )
        self._pid = self.process.pid  # names the scratch file
        self.inner = int(self.run("echo $$"))

    @property
    def pid(self) -> int:
        return self._pid

    def payload(self, event: str, **fields: Any) -> str:
        return super().payload(event, **{"cwd": str(self.works_in), **fields})

    def kill(self, number: int = signal.SIGKILL) -> None:
        super().kill(signal.SIGKILL)  # of bwrap, with which it dies
