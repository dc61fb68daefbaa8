"""The real Gemini CLI, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. Nothing of the caller's environment, credentials or settings reaches the CLI, and nothing of it stays.
  2. The process that is started only starts another one: `session_of` is the one that counts.

Not here: what the model answers (fake_gemini.py), the terminal (terminal.py).
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig.claude import wait_for
from tests.rig.npm import installed
from tests.rig.terminal import Terminal, children

PACKAGE, VERSION, PROGRAM = "@google/gemini-cli", "0.61.0", "gemini"
KEY = "dummy-not-a-key"


def programs() -> Path | None:
    return installed(PACKAGE, VERSION, PROGRAM)


def session_of(pid: int, within: float = 30.0) -> int:
    """The child that the launcher waits for."""
    return int(wait_for(f"a child of {pid}", lambda: next(iter(children(pid)), None), within))


@dataclass(frozen=True)
class Gemini:
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
        return self.home / ".gemini"

    def prepare(self) -> None:
        """A home whose first questions (login, trust, theme) were answered already."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "ui": {"theme": "Default"},
        }
        (self.root / "settings.json").write_text(json.dumps(settings, indent=2))

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "tester",
            "GOOGLE_GEMINI_BASE_URL": self.api,
            "GEMINI_API_KEY": KEY,
            **self.extra,
        }

    def start_print(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["gemini", "--yolo", *arguments, "--prompt", prompt],
            executable=self.programs / PROGRAM,
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def open_tui(self, *arguments: str) -> Terminal:
        tui = Terminal(["gemini", *arguments], self.environment(), self.project)
        try:
            tui.wait_screen("Type your message", 60)
            tui.wait_still()
        except BaseException:
            tui.close()
            raise
        return tui
