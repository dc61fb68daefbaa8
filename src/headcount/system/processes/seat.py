"""Whether a process has a terminal of its own: its controlling terminal, by the kernel's word.

Rules of this file
  1. What cannot be read is None, and nothing follows from it.

Not here: which terminal program shows it (core/where.py), who the process is (linux.py).
"""

import sys

TTY = 4  # of the fields behind the name: tty_nr


def has_terminal(pid: int) -> bool | None:
    if sys.platform != "linux":
        return _elsewhere(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[TTY]) != 0
    except (OSError, ValueError, IndexError):
        return None


def _elsewhere(pid: int) -> bool | None:
    import psutil

    try:
        return psutil.Process(pid).terminal() is not None
    except psutil.Error:
        return None
