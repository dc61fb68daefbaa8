"""One isolated home with one project in it, and the ways to run an agent's CLI there.

Rules of this file
  1. Nothing of the caller's environment, credentials or settings reaches the CLI, and nothing of it stays.
  2. Its only endpoint is the given API, on loopback.

Not here: what each CLI wants in its home (claude.py, codex.py, opencode.py, gemini.py), the terminal (terminal.py).
"""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.terminal.terminal import Terminal

KEY = "dummy-not-a-key"


@dataclass(frozen=True)
class Isolated:
    programs: Path
    api: str
    place: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def project(self) -> Path:
        return self.place / "project"

    @property
    def root(self) -> Path:
        """Where the CLI keeps its settings."""
        raise NotImplementedError

    def own_variables(self) -> dict[str, str]:
        """What this CLI needs beside what every program does."""
        return {}

    def make_places(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "tester",
            **self.own_variables(),
            **self.extra,
        }

    def start(self, argv: Sequence[str]) -> "subprocess.Popen[str]":
        """Without a terminal; what it says on both streams is piped."""
        return subprocess.Popen(
            list(argv),
            executable=self.programs / argv[0],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def open_terminal(self, argv: Sequence[str], ready: str, within: float) -> Terminal:
        """In a terminal of its own, once that stands on its screen and has stopped changing."""
        terminal = Terminal(argv, self.environment(), self.project)
        try:
            terminal.wait_screen(ready, within)
            terminal.wait_still()
        except BaseException:
            terminal.close()
            raise
        return terminal
