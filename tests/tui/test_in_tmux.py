"""The terminal UI in a real terminal: bare `headcount` in tmux, at 80x24, with a real daemon."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]
WITHIN = 20.0


class Terminal:
    """One pane of a tmux server of the test's own."""

    def __init__(self, directory: Path, daemon: Daemon) -> None:
        self._env = {
            **daemon.env,
            "TMUX_TMPDIR": str(directory),
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
        }
        self._tmux("new-session", "-d", "-x", "80", "-y", "24", "-s", "tui", "/bin/sh")
        self._tmux("set", "-g", "set-clipboard", "on")
        self._tmux("set", "-g", "remain-on-exit", "on")

    def _tmux(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-f", "/dev/null", *words], env=self._env, capture_output=True, text=True, timeout=20
        ).stdout

    def type(self, *words: str) -> None:
        line = shlex.join([sys.executable, "-m", "headcount", *words])
        self._tmux("send-keys", "-l", f"cd {shlex.quote(os.getcwd())}; {line}; echo CODE=$?")
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    @property
    def buffers(self) -> str:
        return self._tmux("list-buffers")

    @property
    def title(self) -> str:
        return self._tmux("display-message", "-p", "#{pane_title}").strip()

    def shows(self, text: str) -> None:
        try:
            eventually(lambda: text in self.screen, WITHIN)
        except AssertionError:
            raise AssertionError(f"{text!r} never came:\n{self.screen}") from None

    def lacks(self, text: str) -> None:
        eventually(lambda: text not in self.screen, WITHIN)

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(tmp_path: Path, daemon: Daemon) -> Iterator[Terminal]:
    made = Terminal(tmp_path, daemon)
    yield made
    made.close()


EVIL = "e\x1b]52;c;cm0gLXJmIH4=\x07v\x1b]0;owned\x07il [red]title[/]"


def find(terminal: Terminal, text: str) -> None:
    """As a person does: the next key when the last one shows."""
    terminal.press("Escape")
    terminal.lacks("only:")
    terminal.press("/")
    terminal.shows("name, agent, repository, state")
    terminal.press("-l", text)
    terminal.press("Enter")
    terminal.shows(f"only: {text}")


def test_bare_headcount_opens_it_on_a_terminal_and_keys_work(
    terminal: Terminal, daemon: Daemon, agent: MakeAgent
) -> None:
    first, second = agent(), agent()
    settled(first, daemon, session_title=EVIL)
    settled(second, daemon, session_title="zz-flaky-ci")
    second.hook(daemon.mailbox, "PermissionRequest", tool_name="Bash", tool_input={"command": "make deploy"})
    terminal.type()
    terminal.shows("[agents]")
    find(terminal, "zz-flaky")
    terminal.shows("zz-flaky-ci is ALIVE, waiting for permission.")
    find(terminal, "title")
    terminal.shows("[red]title[/]")
    assert "CODE=" not in terminal.screen
    assert all(len(line) <= 80 for line in terminal.screen.splitlines())
    second.kill()
    find(terminal, "zz-flaky")
    terminal.shows("killed (SIGKILL)")
    assert terminal.buffers == "", "a title set the clipboard"
    assert terminal.title != "owned"
    terminal.press("q")
    terminal.shows("CODE=0")


def test_where_there_is_no_terminal_bare_headcount_prints_ps(daemon: Daemon, agent: MakeAgent) -> None:
    one = agent()
    settled(one, daemon, session_title="i18n")
    for words, stdin in (([], subprocess.DEVNULL), (["ps"], subprocess.DEVNULL)):
        said = subprocess.run(
            [sys.executable, "-m", "headcount", *words],
            env=daemon.env,
            stdin=stdin,
            capture_output=True,
            text=True,
        )
        assert said.returncode == 0 and "i18n" in said.stdout and "\x1b" not in said.stdout
    refused = subprocess.run(
        [sys.executable, "-m", "headcount", "tui"],
        env=daemon.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert refused.returncode == 2 and b"headcount ps" in refused.stderr


def test_a_dumb_terminal_gets_the_list(terminal: Terminal, daemon: Daemon, agent: MakeAgent) -> None:
    one = agent()
    settled(one, daemon, session_title="i18n")
    terminal.press("-l", "export TERM=dumb")
    terminal.press("Enter")
    terminal.type()
    terminal.shows("CODE=0")
    terminal.shows(" alive")
