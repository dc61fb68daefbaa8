"""The real Codex, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. Nothing of the caller's environment, credentials or settings reaches the CLI, and nothing of it stays.
  2. Only processes and tmux servers that were started here are ended.

Not here: what the model answers (fake_responses.py), the terminal (terminal.py).
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.rig import npm
from tests.rig.claude import wait_for
from tests.rig.terminal import Terminal, children, started

VERSION = "0.166.0"


def installed(version: str = VERSION) -> Path | None:
    """The directory with `codex` of that version."""
    return npm.installed("@openai/codex", version, "codex")


def native(wrapper: int) -> int:
    """The native child of the node wrapper."""
    return int(wait_for("the native codex", lambda: next(iter(children(wrapper)), 0)))


def app_server(codex: "Codex") -> int:
    """The detached process in which the conversations of this home's terminals live."""
    return int(wait_for("an app server", lambda: _left(codex, "daemon.pid")))


def sweep(codex: "Codex") -> None:
    """Terminals leave an app server and its updater behind; those of this home are ended."""
    for name in ("daemon-updater.pid", "daemon.pid"):
        pid = _left(codex, name)
        if pid:
            os.kill(pid, signal.SIGKILL)


def _left(codex: "Codex", name: str) -> int:
    """The process that the file names, if it is still that one; else 0."""
    try:
        found = json.loads((codex.root / "app-server-daemon" / name).read_text())
        ticks = str(found["processIdentity"]["startTicks"])
        return int(found["pid"]) if started(int(found["pid"])) == ticks else 0
    except (OSError, ValueError, KeyError):
        return 0


@dataclass(frozen=True)
class Codex:
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
        return self.home / ".codex"

    def prepare(self, *, approval: str = "never", sandbox: str = "danger-full-access") -> None:
        """A home whose first questions (login, trust) were answered already."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        (self.root / "config.toml").write_text(
            'model = "fake"\nmodel_provider = "fake"\n'
            f'approval_policy = "{approval}"\nsandbox_mode = "{sandbox}"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{self.api}/v1"\nwire_api = "responses"\n'
            "requires_openai_auth = false\nrequest_max_retries = 0\nstream_max_retries = 0\n"
            f'[projects."{self.project.resolve()}"]\ntrust_level = "trusted"\n'
        )

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "tester",
            **self.extra,
        }

    def start_exec(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.programs / "codex", "exec", "--skip-git-repo-check", *arguments, prompt],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def open_tui(self, *arguments: str) -> Terminal:
        terminal = Terminal([str(self.programs / "codex"), *arguments], self.environment(), self.project)
        try:
            terminal.wait_screen(r"(?m)^\s*›")
            terminal.wait_still()
        except BaseException:
            terminal.close()
            raise
        return terminal

    def rollouts(self) -> list[Path]:
        return sorted((self.root / "sessions").rglob("rollout-*.jsonl"))
