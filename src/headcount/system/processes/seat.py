"""The controlling terminal of a process, by the kernel's word: whether it has one, and which.

Rules of this file
  1. What cannot be read is None, and nothing follows from it.

Not here: which terminal program shows it (core/values/terminal.py), who the process is (linux.py).
"""

import os
import sys

TTY = 4  # of the fields behind the name: tty_nr
PTS, CONSOLE = 136, 4  # major numbers


def has_terminal(pid: int) -> bool | None:
    if sys.platform != "linux":
        return _elsewhere(pid)[0]
    number = _number(pid)
    return None if number is None else number != 0


def terminal_of(pid: int) -> str | None:
    """`pts/3`; None: it has none, or that cannot be read."""
    if sys.platform != "linux":
        return _elsewhere(pid)[1]
    number = _number(pid)
    if not number:
        return None
    major, minor = os.major(number), os.minor(number)
    return {PTS: f"pts/{minor}", CONSOLE: f"tty{minor}"}.get(major, f"tty {major}:{minor}")


def _number(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[TTY]) & 0xFFFFFFFF
    except (OSError, ValueError, IndexError):
        return None


def _elsewhere(pid: int) -> tuple[bool | None, str | None]:
    import psutil

    try:
        terminal = psutil.Process(pid).terminal()
        return terminal is not None, terminal
    except psutil.Error:
        return None, None
