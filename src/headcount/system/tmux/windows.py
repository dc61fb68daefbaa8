"""Windows: what a tmux server is told. It shows one, opens one, closes one, and keeps one word of ours.

Rules of this file
  1. Only ids of tmux's own form (`%5`, `@3`), and names without its special characters, become part of a
     command (K10).
  2. No signal from here. Closing a pane makes tmux hang up on what runs in it, so it is asked only where nothing
     runs, or somebody said so.
  3. What we set is an option of our own, `@headcount`; its value is numbers and marks.

Not here: asking (server.py, panes.py), what the option says (present/summary.py).
"""

import re
from collections.abc import Mapping

from headcount.core.values.terminal import Pane
from headcount.system.tmux.panes import FIELDS, PANE, SERVERS_MOST, SESSION, read_panes
from headcount.system.tmux.server import Unreachable, ask, did, find_sockets, run
from headcount.times import GLANCE_WITHIN

WINDOW = re.compile("@[0-9]{1,10}")
OPTION = "@headcount"


def show(pane: Pane) -> bool:
    """Makes it the current pane of its window, and that the current window of its session."""
    if not (PANE.fullmatch(pane.id) and WINDOW.fullmatch(pane.window)):
        return False
    return did(pane.socket, "select-window", "-t", f"{pane.window}") and did(
        pane.socket, "select-pane", "-t", pane.id
    )


def switch_client(pane: Pane, client: str) -> bool:
    """Makes that terminal, of the same server, look at the pane."""
    return PANE.fullmatch(pane.id) is not None and did(
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
    """Our word, on every server."""
    for socket in find_sockets(env)[:SERVERS_MOST]:
        ask(socket, "set-option", "-g", OPTION, text, within=GLANCE_WITHIN)
