"""The real Claude Code, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. Nothing of the caller's environment, credentials or settings reaches the CLI, and nothing of it stays.
  2. Nobody sleeps to hope: every wait names what it waits for, and a deadline.
  3. Only processes and tmux servers that were started here are ended.

Not here: what the model answers (fake_anthropic.py), recording what happened (recorder.py, record_traces.py).
"""

import itertools
import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rig import npm

NEWEST = "2.1.325"
OLDER = "2.1.197"
KEY = "dummy-not-a-key"
_numbers = itertools.count(1)


def wait_for(what: str, look: Callable[[], Any], within: float = 30.0, every: float = 0.02) -> Any:
    """The first true answer of `look`; an error that says what did not happen."""
    until = time.monotonic() + within
    while not (found := look()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {within} s")
        time.sleep(every)
    return found


def installed(version: str = NEWEST) -> Path | None:
    """The directory with `claude` of that version."""
    return npm.installed("@anthropic-ai/claude-code", version, "claude")


@dataclass(frozen=True)
class Claude:
    """One isolated home with one project in it, and the ways to run the CLI there."""

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
        return self.home / ".claude"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    def prepare(
        self, settings: Mapping[str, Any] | None = None, *, allow: Sequence[str] = (), trusted: bool = True
    ) -> None:
        """A home whose first questions (theme, key, trust, auto mode) were answered already."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
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

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "tester",
            "ANTHROPIC_BASE_URL": self.api,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **self.extra,
        }

    def start_print(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["claude", "-p", prompt, *arguments],
            executable=self.programs / "claude",
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

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


def _started(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[19] if fields[0] not in "ZX" else None


class Tui:
    """The CLI in a tmux server of its own. The pane's process is the CLI itself."""

    def __init__(self, claude: Claude, arguments: Sequence[str] = ()) -> None:
        self.claude = claude
        self._socket = f"headcount-rig-{os.getpid()}-{next(_numbers)}"
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in claude.environment().items())
        command = f"exec env -i {variables} claude {shlex.join(arguments)}"
        self._tmux(
            "new-session", "-d", "-s", "s", "-x", "150", "-y", "45", "-c", str(claude.project), command
        )
        self.pid = int(wait_for("a pane", lambda: self._tmux("list-panes", "-F", "#{pane_pid}").strip()))
        self._started = _started(self.pid)
        self._socket_file = Path(self._tmux("display-message", "-p", "#{socket_path}").strip())

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *words], capture_output=True, text=True
        )
        return done.stdout

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "s")

    @property
    def is_open(self) -> bool:
        done = subprocess.run(["tmux", "-L", self._socket, "has-session", "-t", "s"], capture_output=True)
        return done.returncode == 0

    def wait_screen(self, pattern: str, within: float = 30.0) -> str:
        try:
            return str(wait_for(pattern, lambda: (s := self.screen) and re.search(pattern, s) and s, within))
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen:\n{self.screen}") from None

    def wait_status(self, *wanted: str, within: float = 30.0) -> str:
        status = self.claude.status_of
        found = wait_for(f"status {wanted}", lambda: status(self.pid) in wanted and status(self.pid), within)
        return str(found)

    def wait_ready(self, within: float = 30.0) -> None:
        self.wait_screen(r"(?m)^\s*[❯>]", within)
        self.wait_status("idle", within=within)
        self.wait_still()

    def wait_still(self, still_for: float = 0.8) -> None:
        """Prompts and dialogs appear before their keys are read: wait until the screen has stopped changing."""
        seen, since = self.screen, time.monotonic()
        until = since + 15
        while time.monotonic() - since < still_for and time.monotonic() < until:
            time.sleep(0.05)
            if (now := self.screen) != seen:
                seen, since = now, time.monotonic()

    def keys(self, *names: str) -> None:
        self._tmux("send-keys", "-t", "s", *names)

    def type(self, text: str) -> None:
        """Text, and Enter once the text is on the screen: a quick Enter belongs to the paste."""
        before = self.screen
        self._tmux("send-keys", "-t", "s", "-l", text)
        wait_for("the typed text", lambda: self.screen != before, 10)
        self.wait_still(0.25)
        self.keys("Enter")

    def close(self) -> None:
        """Closes the terminal: the CLI gets SIGHUP, and takes a second or three to leave."""
        self._tmux("kill-server")
        wait_for(f"the end of {self.pid}", lambda: not self.is_running, 20)
        self._socket_file.unlink(missing_ok=True)  # tmux leaves it

    @property
    def is_running(self) -> bool:
        """By start time: the pid alone may be somebody else's by now."""
        return _started(self.pid) == self._started

    def __enter__(self) -> "Tui":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
