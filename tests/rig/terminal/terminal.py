"""A terminal for any agent's CLI: a tmux server of its own, keys in, the screen out.

Rules of this file
  1. Nothing of the caller's environment reaches the CLI: what it gets is given.
  2. No blind sleeps: every wait names its condition and a deadline.
  3. Only the tmux server that was started here is ended; a process is asked for by its start, not by its pid alone.

Not here: which CLI, in which home (isolated_home.py).
"""

import itertools
import os
import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.rig.waiting import wait_for

TAIL = 24  # letters and digits: enough to be told from what else is on a screen
PASTED = "[Pasted "  # what stands for a long text, in words of the CLI's own

_numbers = itertools.count(1)


def is_typed(text: str, before: str, screen: str) -> bool:
    """Whether the end of the text came onto a screen, which wraps it and draws borders around it."""
    tail = _letters(text)[-TAIL:]
    came = _letters(screen).count(tail) > _letters(before).count(tail)
    return came or screen.count(PASTED) > before.count(PASTED)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def started(pid: int) -> str | None:
    """The start ticks of a living process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[19] if fields[0] not in "ZX" else None


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


class Terminal:
    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._socket = f"headcount-term-{os.getpid()}-{next(_numbers)}"
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
        command = f"exec env -i {variables} {shlex.join(argv)}"
        self._tmux("new-session", "-d", "-s", "s", "-x", "150", "-y", "45", "-c", str(cwd), command)
        self.pid = int(wait_for("a pane", lambda: self._tmux("list-panes", "-F", "#{pane_pid}").strip()))
        self._started = started(self.pid)
        self._socket_file = Path(self._tmux("display-message", "-p", "#{socket_path}").strip())

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *words], capture_output=True, text=True
        )
        return done.stdout

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "s")

    def wait_screen(self, pattern: str, within: float = 40.0) -> str:
        try:
            return str(wait_for(pattern, lambda: (s := self.screen) and re.search(pattern, s) and s, within))
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen:\n{self.screen}") from None

    def wait_still(self, still_for: float = 0.8) -> None:
        """Prompts appear before their keys are read: wait until the screen has stopped changing."""
        seen, since = self.screen, time.monotonic()
        until = since + 15
        while time.monotonic() - since < still_for and time.monotonic() < until:
            time.sleep(0.05)
            if (now := self.screen) != seen:
                seen, since = now, time.monotonic()

    def wait_hearing(self, within: float = 60.0) -> None:
        """A prompt is drawn before its keys are read: a letter is typed until it shows, and taken back."""
        before = self.screen

        def heard() -> bool:
            self.keys("x")
            until = time.monotonic() + 1
            while time.monotonic() < until:
                if self.screen != before:
                    return True
                time.sleep(0.05)
            return False

        wait_for("a prompt that takes keys", heard, within)
        self.wait_still(0.3)
        self.keys("C-u")
        self.wait_still(0.3)

    def keys(self, *names: str) -> None:
        self._tmux("send-keys", "-t", "s", *names)

    def type(self, text: str) -> None:
        """Text, and Enter once the text is on the screen: a quick Enter belongs to the paste."""
        before = self.screen
        self._tmux("send-keys", "-t", "s", "-l", text)
        wait_for(f"{text!r} on the screen", lambda: is_typed(text, before, self.screen), 30)
        self.wait_still(0.3)
        self.keys("Enter")

    @property
    def is_open(self) -> bool:
        done = subprocess.run(["tmux", "-L", self._socket, "has-session", "-t", "s"], capture_output=True)
        return done.returncode == 0

    @property
    def is_running(self) -> bool:
        """By start time: the pid alone may be somebody else's by now."""
        return started(self.pid) == self._started

    def close(self) -> None:
        """Closes the terminal: the CLI gets SIGHUP, and takes a second or three to leave."""
        self._tmux("kill-server")
        wait_for(f"the end of {self.pid}", lambda: not self.is_running, 20)
        self._socket_file.unlink(missing_ok=True)  # tmux leaves it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
