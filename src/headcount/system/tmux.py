"""Tmux: what a server says of its panes, and what it is told.

Rules of this file
  1. Three answers: a list of panes, nobody there, cannot be asked. An unreachable server is not a server without
     panes (stack: a library's lists are empty on any error).
  2. Every question has a deadline, and starts no server. The socket is always named: several servers may run.
  3. Only ids of tmux's own form (`%5`, `@3`), and names without its special characters, become part of a
     command (K10).
  4. No signal from here. Closing a pane makes tmux hang up on what runs in it, so it is asked only where nothing
     runs, or somebody said so.

Not here: whose pane it is (core/where.py), when to ask (daemon/terminals.py).
"""

import os
import re
import socket as sockets
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headcount.core.where import Pane
from headcount.times import TMUX_WITHIN

PANE = re.compile("%[0-9]{1,10}")
WINDOW = re.compile("@[0-9]{1,10}")
SESSION = re.compile(r"[A-Za-z0-9_][^:.\x00-\x1f\x7f]{0,99}")
SUN_PATH_MOST = 107  # bytes of a unix socket's path

FIELDS = (
    "#{pane_id} #{window_id} #{pane_pid} #{pane_dead} #{session_attached} #{window_index} #{pane_index} "
    "#{pid} #{start_time} #{session_name}:#{pane_current_command}:#{window_name}"
)
LINE = re.compile(
    r"(%[0-9]+) (@[0-9]+) ([0-9]+) ([0-9]*) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) ([^:]*):([^:]*):(.*)",
    re.ASCII,
)
CLIENT_FIELDS = "#{client_pid} #{client_activity} #{client_name}"
CLIENT_LINE = re.compile(r"([0-9]+) ([0-9]+) (/[!-~]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class NoServer:
    """Nobody listens there: the kernel said so."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """It could not be asked. Nothing follows."""

    why: str


@dataclass(frozen=True, slots=True)
class Client:
    """A terminal that is attached to a server."""

    pid: int
    active_at: int
    name: str  # its tty


Panes = list[Pane] | NoServer | Unreachable


def list_panes(socket: str) -> Panes:
    """All panes of all sessions of that server."""
    if not _is_socket_path(socket):
        return Unreachable("that is no path of a socket")
    said = _ask(socket, "list-panes", "-a", "-F", FIELDS)
    if not isinstance(said, str):
        return said
    panes = _panes(socket, said)
    if len(panes) != said.count("\n"):
        return Unreachable("its answer was not understood")  # which is not a server with fewer panes
    return panes


def list_clients(socket: str, session: str | None = None) -> list[Client]:
    """Who looks at that server, the most recently active first; empty also when it cannot be asked."""
    target = ("-t", f"={session}") if session is not None and SESSION.fullmatch(session) else ()
    said = _ask(socket, "list-clients", "-F", CLIENT_FIELDS, *target)
    found = [CLIENT_LINE.fullmatch(line) for line in said.splitlines()] if isinstance(said, str) else []
    clients = [Client(int(each[1]), int(each[2]), each[3]) for each in found if each is not None]
    return sorted(clients, key=lambda client: client.active_at, reverse=True)


def find_sockets(env: Mapping[str, str]) -> list[str]:
    """The sockets of this user in the place where tmux puts them. That one is there does not say that anybody
    listens."""
    directory = Path(env.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 (tmux's own place)
    try:
        found = [entry for entry in os.scandir(directory) if _is_own_socket(entry)]
    except OSError:
        return []
    return sorted(entry.path for entry in found)


def show(pane: Pane) -> bool:
    """Makes it the current pane of its window, and that the current window of its session."""
    if not (PANE.fullmatch(pane.id) and WINDOW.fullmatch(pane.window)):
        return False
    return _did(pane.socket, "select-window", "-t", f"{pane.window}") and _did(
        pane.socket, "select-pane", "-t", pane.id
    )


def switch_client(pane: Pane, client: str) -> bool:
    """Makes that terminal, of the same server, look at the pane."""
    return PANE.fullmatch(pane.id) is not None and _did(
        pane.socket, "switch-client", "-c", client, "-t", pane.id
    )


def attach_command(pane: Pane) -> list[str]:
    """What a person types to look at it."""
    return ["tmux", "-S", pane.socket, "attach-session", "-t", pane.session]


def open_window(
    socket: str | None, session: str | None, directory: str, env: Mapping[str, str], command: list[str]
) -> "Pane | Unreachable":
    """A new window, not shown yet, that runs the command; in that session, else in the one tmux prefers. A
    session or server that is not there is started."""
    if session is not None and SESSION.fullmatch(session) is None:
        return Unreachable("a session's name has no : and no . and begins with a letter, a digit or _")
    words = ["-d", "-P", "-F", FIELDS, "-c", directory]
    words += [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    words += ["--", *command]
    server = ["-S", socket] if socket else []
    if session is not None and not _did(socket, "has-session", "-t", f"={session}"):
        said = _run([*server, "new-session", "-s", session, *words])
    elif session is not None:
        said = _run([*server, "new-window", "-t", f"={session}:", *words])
    elif _did(socket, "has-session"):
        said = _run([*server, "new-window", *words])
    else:
        said = _run([*server, "new-session", *words])
    if not isinstance(said, str):
        return said if isinstance(said, Unreachable) else Unreachable("nobody listens")
    where = socket or _run(["display-message", "-p", "#{socket_path}"])
    panes = _panes(where.strip() if isinstance(where, str) else "", said)
    return panes[0] if panes else Unreachable("tmux did not say which window it opened")


def close_pane(pane: Pane) -> bool:
    return PANE.fullmatch(pane.id) is not None and _did(pane.socket, "kill-pane", "-t", pane.id)


def close_window(pane: Pane) -> bool:
    """With all its panes."""
    return WINDOW.fullmatch(pane.window) is not None and _did(pane.socket, "kill-window", "-t", pane.window)


# --- asking --------------------------------------------------------------------------------------------


def _ask(socket: str, *words: str) -> str | NoServer | Unreachable:
    """A question; the kernel is asked first whether anybody listens, which a dead server's socket shows."""
    absent = _nobody(socket)
    return absent if absent is not None else _run(["-S", socket, *words])


def _did(socket: str | None, *words: str) -> bool:
    return isinstance(_run([*(("-S", socket) if socket else ()), *words]), str)


def _run(words: list[str]) -> str | Unreachable:
    try:
        done = subprocess.run(
            ["tmux", "-u", *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TMUX_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Unreachable("it did not answer in time")
    except OSError as error:
        return Unreachable(f"tmux cannot be run: {error.strerror}")
    if done.returncode != 0:
        return Unreachable(done.stderr.decode("utf-8", "replace").strip()[:200] or "it refused")
    return done.stdout.decode("utf-8", "replace")


def _nobody(path: str) -> NoServer | Unreachable | None:
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.settimeout(TMUX_WITHIN)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return NoServer()
        except FileNotFoundError:  # no proof: a server whose socket was swept from /tmp goes on
            return Unreachable("its socket is gone")
        except (OSError, ValueError) as error:
            return Unreachable(str(error))
    return None


def _panes(socket: str, said: str) -> list[Pane]:
    found = (LINE.fullmatch(line) for line in said.split("\n"))  # a window's name may hold other separators
    return [
        Pane(
            socket=socket,
            id=each[1],
            window=each[2],
            pid=int(each[3]),
            dead=each[4] == "1",
            attached=each[5] != "0",
            window_index=int(each[6]),
            index=int(each[7]),
            server=int(each[8]),
            server_since=int(each[9]),
            session=each[10],
            program=each[11],
            window_name=each[12],
        )
        for each in found
        if each is not None
    ]


def _is_socket_path(path: str) -> bool:
    return path.startswith("/") and "\0" not in path and len(os.fsencode(path)) <= SUN_PATH_MOST


def _is_own_socket(entry: "os.DirEntry[str]") -> bool:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISSOCK(facts.st_mode) and facts.st_uid == os.getuid()
