"""The real Claude Code, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Not here: what the model answers (anthropic_messages.py), the home and the terminal (isolated_home.py, terminal.py), recording
what happened (recorder.py, record_traces.py).
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rig.real_agents import npm
from tests.rig.real_agents.isolated_home import KEY, Isolated
from tests.rig.terminal.terminal import Terminal
from tests.rig.waiting import wait_for

NEWEST = "2.1.325"
OLDER = "2.1.197"
DEAF = 1.2  # a dialog that has just opened ignores keys for about a second, and shows nothing of it


def installed(version: str = NEWEST) -> Path | None:
    """The directory with `claude` of that version."""
    return npm.installed("@anthropic-ai/claude-code", version, "claude")


@dataclass(frozen=True)
class Claude(Isolated):
    @property
    def root(self) -> Path:
        return self.home / ".claude"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    def prepare(
        self, settings: Mapping[str, Any] | None = None, *, allow: Sequence[str] = (), trusted: bool = True
    ) -> None:
        """A home whose first questions (theme, key, trust, auto mode) were answered already."""
        self.make_places()
        answered = {"hasTrustDialogAccepted": trusted, "hasCompletedProjectOnboarding": True}
        (self.home / ".claude.json").write_text(
            json.dumps(
                {
                    "hasCompletedOnboarding": True,
                    "lastOnboardingVersion": "99.0.0",
                    "theme": "dark",
                    "numStartups": 5,
                    "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
                    "projects": {str(self.project.resolve()): {**answered, "projectOnboardingSeenCount": 5}},
                }
            )
        )
        permissions = {"defaultMode": "default", "allow": list(allow)}
        given = {"disableAutoMode": "disable", "permissions": permissions, **(settings or {})}
        (self.root / "settings.json").write_text(json.dumps(given, indent=2))

    def own_variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.api,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def start_print(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return self.start(["claude", "-p", prompt, *arguments])

    def run_print(self, prompt: str, *arguments: str, within: float = 120.0) -> str:
        run = self.start_print(prompt, *arguments)
        try:
            return run.communicate(timeout=within)[0]
        finally:
            run.kill()
            run.wait()

    def open_tui(self, *arguments: str) -> "Tui":
        tui = Tui(self, arguments)
        try:
            tui.wait_ready()
        except BaseException:
            tui.close()
            raise
        return tui

    def records(self) -> list[dict[str, Any]]:
        """The CLI's own session files, as they are now."""
        found = []
        for path in self.sessions.glob("*.json"):
            try:
                found.append(json.loads(path.read_text()))
            except (OSError, ValueError):
                continue  # removed or written at this moment
        return found

    def status_of(self, pid: int) -> str | None:
        return next((each.get("status") for each in self.records() if each.get("pid") == pid), None)


class Tui(Terminal):
    """The CLI in a terminal of its own. The pane's process is the CLI itself."""

    def __init__(self, claude: Claude, arguments: Sequence[str] = ()) -> None:
        self.claude = claude
        super().__init__(["claude", *arguments], claude.environment(), claude.project)

    def wait_status(self, *wanted: str, within: float = 30.0) -> str:
        status = self.claude.status_of
        found = wait_for(f"status {wanted}", lambda: status(self.pid) in wanted and status(self.pid), within)
        return str(found)

    def wait_ready(self, within: float = 30.0) -> None:
        self.wait_screen(r"(?m)^\s*[❯>]", within)
        self.wait_status("idle", within=within)
        self.wait_still()
