"""Panes that are looked at, and the one word that we tell tmux.

Rules of this file
  1. Only servers of this user, each asked with a deadline; one that does not answer shows nothing. None of
     these questions starts a server: a socket that nobody listens on is an error of tmux, and nothing follows.
  2. What we set is an option of our own, `@headcount`; its value is numbers and marks.
  3. No signal from here.

Not here: whose pane it is (daemon/notifying.py), what the option says (core/glance.py).
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from headcount.times import GLANCE_WITHIN

OPTION = "@headcount"
SERVERS_MOST = 8
FORMAT = "#{pane_pid} #{pane_active}#{window_active}#{?session_attached,1,0}"
LOOKED_AT = re.compile("([0-9]{1,10}) 111")


def servers(env: Mapping[str, str]) -> list[str]:
    """The sockets of this user's tmux servers, in tmux's own place."""
    place = Path(env.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 (tmux's own place)
    try:
        found = sorted(entry.path for entry in os.scandir(place) if _is_own_socket(entry))
    except OSError:
        return []
    return found[:SERVERS_MOST]


def looked_at(env: Mapping[str, str]) -> frozenset[int]:
    """The processes of panes that are on a screen now: active, in the active window, somebody attached.
    Blocks: for a thread."""
    found: set[int] = set()
    for socket in servers(env):
        said = _ask(socket, "list-panes", "-a", "-F", FORMAT)
        matches = (LOOKED_AT.fullmatch(line) for line in said.splitlines())
        found |= {int(match[1]) for match in matches if match is not None}
    return frozenset(found)


def push(env: Mapping[str, str], text: str) -> None:
    """Set the option on every server. Blocks: for a thread."""
    for socket in servers(env):
        _ask(socket, "set-option", "-g", OPTION, text)


def _ask(socket: str, *words: str) -> str:
    """What the server said; nothing when it cannot be asked."""
    program = shutil.which("tmux")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "-S", socket, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GLANCE_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _is_own_socket(entry: "os.DirEntry[str]") -> bool:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISSOCK(facts.st_mode) and facts.st_uid == os.getuid()
