"""A tmux pane, as its own server shows it now.

Rules of this file
  1. The address is tmux's own word on where a process runs (tmux.py), never what an environment claims; a socket that
     is not ours reaches no command line.
  2. Pane numbers are given anew by every server: the server must be the one that the address names.
  3. No answer in time, no server, no pane: None, which says nothing about the process.

Not here: whose pane it is (the caller's), printing what it shows (cli/).
"""

import asyncio
import os
import stat
import subprocess
from dataclasses import dataclass

from headcount.times import PEEK_WITHIN

CLEAN_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Pane:
    socket: str
    server: str  # its pid
    id: str


async def capture(pane: Pane, lines: int) -> list[str] | None:
    """The last so many lines that are not blank at the end."""
    if not _is_our_socket(pane.socket):
        return None
    which = ("display-message", "-p", "-t", pane.id, "#{pid}")
    what = ("capture-pane", "-p", "-J", "-t", pane.id, "-S", f"-{lines}")
    shown = await asyncio.to_thread(_run, ["tmux", "-S", pane.socket, *which, ";", *what])
    server, _, text = (shown or "").partition("\n")
    if server.strip() != pane.server:
        return None
    return text.rstrip().split("\n")[-lines:]


def _is_our_socket(path: str) -> bool:
    try:
        seen = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(seen.st_mode) and seen.st_uid == os.geteuid()


def _run(command: list[str]) -> str | None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=CLEAN_ENVIRONMENT,
            timeout=PEEK_WITHIN,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
