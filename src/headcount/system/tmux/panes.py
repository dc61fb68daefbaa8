"""Tmux panes and windows: list panes, clients and screen text; show, open and close windows; set our option.

Rules
  1. An answer that cannot be parsed is `Unreachable`, not a server with fewer panes.
  2. Pane numbers are unique only within one server run: a pane's text is taken only from the server that the
     place names.
  3. Only ids of tmux's own form (`%5`, `@3`), and names without its special characters, become part of a
     command (accident K10).
  4. No signal is sent from here. Closing a pane makes tmux send SIGHUP to what runs in it, so callers do it
     only if nothing runs there or a person asked for it.
  5. We set one option of our own, `@headcount`: numbers and marks.

Not here: running tmux (server.py), whose pane it is (core/values/terminal.py), when to ask
(daemon/observers/terminals.py), what the option says (present/summary.py).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from headcount.core.values.terminal import Pane, TerminalPlace
from headcount.system.tmux.server import NoServer, Unreachable, ask, did, find_sockets, is_own_socket, run
from headcount.times import GLANCE_WITHIN

PANE = re.compile("%[0-9]{1,10}")
WINDOW = re.compile("@[0-9]{1,10}")
OPTION = "@headcount"
SESSION = re.compile(r"[A-Za-z0-9_][^:.\x00-\x1f\x7f]{0,99}")
SERVERS_MOST = 8  # that a glance is taken at

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
SEEN_FIELDS = "#{pane_pid} #{pane_active}#{window_active}#{?session_attached,1,0}"
SEEN_LINE = re.compile("([0-9]{1,10}) 111")

Panes = list[Pane] | NoServer | Unreachable


class TmuxClient(Struct, frozen=True):
    """A terminal that is attached to a server."""

    pid: int
    active_at: int
    name: str  # its tty


def list_panes(socket: str) -> Panes:
    """All panes of all sessions of that server."""
    said = ask(socket, "list-panes", "-a", "-F", FIELDS)
    if not isinstance(said, str):
        return said
    panes = read_panes(socket, said)
    if len(panes) != said.count("\n"):
        return Unreachable("its answer was not understood")  # which is not a server with fewer panes
    return panes


def list_clients(socket: str, session: str | None = None) -> list[TmuxClient]:
    """Terminals attached to that server, most recently active first; also empty if it does not answer."""
    target = ("-t", f"={session}") if session is not None and SESSION.fullmatch(session) else ()
    said = ask(socket, "list-clients", "-F", CLIENT_FIELDS, *target)
    found = [CLIENT_LINE.fullmatch(line) for line in said.splitlines()] if isinstance(said, str) else []
    clients = [TmuxClient(int(each[1]), int(each[2]), each[3]) for each in found if each is not None]
    return sorted(clients, key=lambda client: client.active_at, reverse=True)


def looked_at(env: Mapping[str, str]) -> frozenset[int]:
    """The processes of panes that are on a screen now: active pane, active window, a client attached."""
    found: set[int] = set()
    for socket in find_sockets(env)[:SERVERS_MOST]:
        said = ask(socket, "list-panes", "-a", "-F", SEEN_FIELDS, within=GLANCE_WITHIN)
        matches = (SEEN_LINE.fullmatch(line) for line in said.splitlines()) if isinstance(said, str) else ()
        found |= {int(match[1]) for match in matches if match is not None}
    return frozenset(found)


def capture(place: TerminalPlace, lines: int) -> list[str] | None:
    """The last lines that the pane shows, without blank lines at the end. None: that server does not have it."""
    if place.socket is None or place.pane is None or PANE.fullmatch(place.pane) is None:
        return None
    if not is_own_socket(Path(place.socket)):
        return None
    which = ("display-message", "-p", "-t", place.pane, "#{pid}")
    what = ("capture-pane", "-p", "-J", "-t", place.pane, "-S", f"-{lines}")
    said = ask(place.socket, *which, ";", *what)
    server, _, text = said.partition("\n") if isinstance(said, str) else ("", "", "")
    if server.strip() != str(place.server):
        return None
    return text.rstrip().split("\n")[-lines:]


def read_panes(socket: str, said: str) -> list[Pane]:
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


def show(pane: Pane) -> bool:
    """Make it the current pane of its window, and that the current window of its session."""
    if not (PANE.fullmatch(pane.id) and WINDOW.fullmatch(pane.window)):
        return False
    return did(pane.socket, "select-window", "-t", f"{pane.window}") and did(
        pane.socket, "select-pane", "-t", pane.id
    )


def switch_client(pane: Pane, client: str) -> bool:
    """Switch that terminal, of the same server, to the pane."""
    return PANE.fullmatch(pane.id) is not None and did(
        pane.socket, "switch-client", "-c", client, "-t", pane.id
    )


def attach_command(pane: Pane) -> list[str]:
    """The command that attaches to it."""
    return ["tmux", "-S", pane.socket, "attach-session", "-t", pane.session]


def open_window(
    socket: str | None, session: str | None, directory: str, env: Mapping[str, str], command: list[str]
) -> "Pane | Unreachable":
    """Open a window in the background that runs the command, in that session or else the one tmux prefers. A
    missing session or server is started."""
    if session is not None and SESSION.fullmatch(session) is None:
        return Unreachable("a session's name has no : and no . and begins with a letter, a digit or _")
    words = ["-d", "-P", "-F", FIELDS, "-c", directory]
    words += [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    words += ["--", *command]
    server = ["-S", socket] if socket else []
    if session is not None and not did(socket, "has-session", "-t", f"={session}"):
        said = run([*server, "new-session", "-s", session, *words])
    elif session is not None:
        said = run([*server, "new-window", "-t", f"={session}:", *words])
    elif did(socket, "has-session"):
        said = run([*server, "new-window", *words])
    else:
        said = run([*server, "new-session", *words])
    if not isinstance(said, str):
        return said if isinstance(said, Unreachable) else Unreachable("nobody listens")
    where = socket or run(["display-message", "-p", "#{socket_path}"])
    panes = read_panes(where.strip() if isinstance(where, str) else "", said)
    return panes[0] if panes else Unreachable("tmux did not say which window it opened")


def close_pane(pane: Pane) -> bool:
    return PANE.fullmatch(pane.id) is not None and did(pane.socket, "kill-pane", "-t", pane.id)


def close_window(pane: Pane) -> bool:
    """With all its panes."""
    return WINDOW.fullmatch(pane.window) is not None and did(pane.socket, "kill-window", "-t", pane.window)


def push(env: Mapping[str, str], text: str) -> None:
    """Set our option on every server."""
    for socket in find_sockets(env)[:SERVERS_MOST]:
        ask(socket, "set-option", "-g", OPTION, text, within=GLANCE_WITHIN)
