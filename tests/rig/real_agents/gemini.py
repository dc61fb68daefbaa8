"""The real Gemini CLI, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. The process that is started only starts another one: `session_of` is the one that counts.

Not here: what the model answers (gemini_api.py), the home and the terminal (isolated_home.py, terminal.py).
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.rig.real_agents.isolated_home import KEY, Isolated
from tests.rig.real_agents.npm import installed
from tests.rig.terminal.terminal import Terminal, children
from tests.rig.waiting import wait_for

PACKAGE, VERSION, PROGRAM = "@google/gemini-cli", "0.61.0", "gemini"


def programs() -> Path | None:
    return installed(PACKAGE, VERSION, PROGRAM)


def session_of(pid: int, within: float = 30.0) -> int:
    """The child that the launcher waits for."""
    return int(wait_for(f"a child of {pid}", lambda: next(iter(children(pid)), None), within))


@dataclass(frozen=True)
class Gemini(Isolated):
    @property
    def root(self) -> Path:
        return self.home / ".gemini"

    def prepare(self) -> None:
        """A home whose first questions (login, trust, theme) were answered already."""
        self.make_places()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "ui": {"theme": "Default"},
        }
        (self.root / "settings.json").write_text(json.dumps(settings, indent=2))

    def own_variables(self) -> dict[str, str]:
        return {"COLORTERM": "truecolor", "GOOGLE_GEMINI_BASE_URL": self.api, "GEMINI_API_KEY": KEY}

    def start_print(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return self.start(["gemini", "--yolo", *arguments, "--prompt", prompt])

    def open_tui(self, *arguments: str) -> Terminal:
        return self.open_terminal(["gemini", *arguments], "Type your message", 60)
