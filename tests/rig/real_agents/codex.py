"""The real Codex, on loopback: installed from npm, in a home of its own, in a terminal of its own.

Rules of this file
  1. What its terminals leave behind is ended by the pid and the start that its own files name.

Not here: what the model answers (openai_responses.py), the home and the terminal (isolated_home.py, terminal.py).
"""

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.rig.real_agents import npm
from tests.rig.real_agents.isolated_home import Isolated
from tests.rig.terminal.terminal import Terminal, children, started
from tests.rig.waiting import wait_for

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
class Codex(Isolated):
    @property
    def root(self) -> Path:
        return self.home / ".codex"

    def prepare(self, *, approval: str = "never", sandbox: str = "danger-full-access") -> None:
        """A home whose first questions (login, trust) were answered already."""
        self.make_places()
        (self.root / "config.toml").write_text(
            'model = "fake"\nmodel_provider = "fake"\n'
            f'approval_policy = "{approval}"\nsandbox_mode = "{sandbox}"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{self.api}/v1"\nwire_api = "responses"\n'
            "requires_openai_auth = false\nrequest_max_retries = 0\nstream_max_retries = 0\n"
            f'[projects."{self.project.resolve()}"]\ntrust_level = "trusted"\n'
        )

    def start_exec(self, prompt: str, *arguments: str) -> "subprocess.Popen[str]":
        return self.start(["codex", "exec", "--skip-git-repo-check", *arguments, prompt])

    def open_tui(self, *arguments: str) -> Terminal:
        return self.open_terminal(["codex", *arguments], r"(?m)^\s*›", 40)

    def rollouts(self) -> list[Path]:
        return sorted((self.root / "sessions").rglob("rollout-*.jsonl"))
