"""Tmux servers: find their sockets, and run one command on one of them.

Rules
  1. There are three answers: the output, `NoServer`, and `Unreachable`. An unreachable server is not a server
     without panes.
  2. Every question has a deadline and starts no server. `ask` always names the socket: several servers may
     run.

Not here: which commands are run (panes.py).
"""

import os
import socket as sockets
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from headcount.times import TMUX_WITHIN

SUN_PATH_MOST = 107  # bytes of a unix socket's path


class NoServer(Struct, frozen=True):
    """No server listens there: the kernel said so."""


class Unreachable(Struct, frozen=True):
    """The server did not answer. That proves nothing."""

    why: str


def find_sockets(env: Mapping[str, str]) -> list[str]:
    """This user's sockets in tmux's directory. An existing socket does not prove that a server listens."""
    directory = Path(env.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 (tmux's own place)
    try:
        found = [entry for entry in os.scandir(directory) if is_own_socket(entry)]
    except OSError:
        return []
    return sorted(entry.path for entry in found)


def ask(socket: str, *words: str, within: float = TMUX_WITHIN) -> str | NoServer | Unreachable:
    """Run one command. First the kernel is asked whether a server listens: a dead server leaves its socket."""
    if not _is_socket_path(socket):
        return Unreachable("that is no path of a socket")
    absent = _nobody(socket, within)
    return absent if absent is not None else run(["-S", socket, *words], within)


def did(socket: str | None, *words: str) -> bool:
    return isinstance(run([*(("-S", socket) if socket else ()), *words]), str)


def run(words: list[str], within: float = TMUX_WITHIN) -> str | Unreachable:
    try:
        done = subprocess.run(
            ["tmux", "-u", *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=within,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Unreachable("it did not answer in time")
    except OSError as error:
        return Unreachable(f"tmux cannot be run: {error.strerror}")
    if done.returncode != 0:
        return Unreachable(done.stderr.decode("utf-8", "replace").strip()[:200] or "it refused")
    return done.stdout.decode("utf-8", "replace")


def _nobody(path: str, within: float) -> NoServer | Unreachable | None:
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.settimeout(within)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return NoServer()
        except FileNotFoundError:  # no proof: a server keeps running when its socket is cleaned from /tmp
            return Unreachable("its socket is gone")
        except (OSError, ValueError) as error:
            return Unreachable(str(error))
    return None


def _is_socket_path(path: str) -> bool:
    return path.startswith("/") and "\0" not in path and len(os.fsencode(path)) <= SUN_PATH_MOST


def is_own_socket(entry: "os.DirEntry[str] | Path") -> bool:
    try:
        facts = entry.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(facts.st_mode) and facts.st_uid == os.getuid()
