"""Going to a session: show its terminal to whoever asks, or say how to get there.

Rules
  1. Only what was verified is told anything: the pane is looked up again in its server, and the server must be the
     one that the session was found in.
  2. A terminal is switched when it is one of the same tmux server; another that already looks at the session sees
     it at once. Otherwise nothing is taken over: the command is printed.
  3. Tmux inside tmux: the outer pane that shows the inner one is shown too.
  4. Ids and sockets are checked before they reach a command (K10).

Not here: where a session is (daemon/observers/terminals.py), which one (commands/jump.py, commands/next.py).
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean
from headcount.system import tmux
from headcount.times import TMUX_WITHIN

if TYPE_CHECKING:
    from headcount.wire.views import Whereabouts

NUMBER = re.compile("[0-9]{1,10}")
KITTY_SOCKET = re.compile(r"(unix|tcp|tcp6):[!-~]{1,200}")
NESTED_MOST = 4


class Went(NamedTuple):
    shown: bool  # somebody looks at it now
    how: str  # a sentence
    command: list[str] | None = None  # what is left to be done by hand


def go(place: "Whereabouts", env: Mapping[str, str]) -> Went:
    program = place.get("program")
    if program == "tmux":
        return _to_pane(place, env)
    if program == "kitty":
        return _to_kitty(place)
    if program == "wezterm":
        return _to_wezterm(place)
    return _by_hand(place)


# --- tmux ----------------------------------------------------------------------------------------------


def _to_pane(place: "Whereabouts", env: Mapping[str, str]) -> Went:
    socket, wanted = str(place.get("socket")), str(place.get("pane"))
    panes = tmux.list_panes(socket)
    if isinstance(panes, tmux.Unreachable):
        return Went(False, f"tmux at {clean(socket)} cannot be asked: {clean(panes.why)}.")
    server = (place.get("server"), place.get("server_since"))
    found = panes if isinstance(panes, list) else []
    mine = [pane for pane in found if pane.id == wanted and (pane.server, pane.server_since) == server]
    if not mine:
        return Went(False, f"The pane {clean(wanted)} is not there any more.")
    pane = max(mine, key=lambda each: each.attached)
    if not tmux.show(pane):
        return Went(False, f"tmux would not show {clean(pane.text)}.", tmux.attach_command(pane))
    where = clean(pane.text)
    own = own_client(socket, env)
    if own is not None:
        if not tmux.switch_client(pane, own):
            return Went(False, f"tmux would not switch to {where}.", tmux.attach_command(pane))
        return Went(True, f"Here: {where}.")
    watching = tmux.list_clients(socket, pane.session)
    if not watching:
        return Went(False, f"Nobody looks at {where}.", tmux.attach_command(pane))
    _show_outer(watching[0].pid, env, NESTED_MOST)
    return Went(True, f"Shown: {where}, in the terminal {clean(watching[0].name)}.")


def own_client(socket: str, env: Mapping[str, str]) -> str | None:
    """The terminal of whoever asks, if it is one of that server."""
    named = env.get("TMUX", "").rsplit(",", 2)[0]
    pane = env.get("TMUX_PANE", "")
    if not named.startswith("/") or not tmux.PANE.fullmatch(pane):
        return None
    if os.path.realpath(named) != os.path.realpath(socket):
        return None
    panes = tmux.list_panes(named)
    mine = [each for each in panes if each.id == pane] if isinstance(panes, list) else []
    clients = [client for each in mine for client in tmux.list_clients(named, each.session)]
    return max(clients, key=lambda client: client.active_at).name if clients else None


def _show_outer(client: int, env: Mapping[str, str], depth: int) -> None:
    """That terminal may itself be a pane of another server: by the kernel's word on who started it."""
    above = _above(client)
    for socket in tmux.find_sockets(env):
        panes = tmux.list_panes(socket)
        for pane in panes if isinstance(panes, list) else []:
            if pane.pid not in above or pane.dead or not tmux.show(pane):
                continue
            own = own_client(socket, env)
            watching = tmux.list_clients(socket, pane.session)
            if own is not None:
                tmux.switch_client(pane, own)
            elif watching and depth > 0:
                _show_outer(watching[0].pid, env, depth - 1)
            return


def _above(pid: int) -> list[int]:
    import psutil

    try:
        return [pid, *(each.pid for each in psutil.Process(pid).parents())]
    except psutil.Error:
        return []


# --- others --------------------------------------------------------------------------------------------


def _to_kitty(place: "Whereabouts") -> Went:
    window, socket = str(place.get("pane")), str(place.get("socket") or "")
    if not NUMBER.fullmatch(window):
        return _by_hand(place)
    to = ["--to", socket] if KITTY_SOCKET.fullmatch(socket) else []
    command = ["kitty", "@", *to, "focus-window", "--match", f"id:{window}"]
    if not to:
        return Went(False, "kitty was not told to listen (allow_remote_control, listen_on).", command)
    return _told("kitty", command, {})


def _to_wezterm(place: "Whereabouts") -> Went:
    pane, socket = str(place.get("pane")), str(place.get("socket") or "")
    if not NUMBER.fullmatch(pane):
        return _by_hand(place)
    command = ["wezterm", "cli", "activate-pane", "--pane-id", pane]
    return _told("WezTerm", command, {"WEZTERM_UNIX_SOCKET": socket} if socket.startswith("/") else {})


def _told(name: str, command: list[str], more: dict[str, str]) -> Went:
    if shutil.which(command[0]) is None:
        return Went(False, f"{name} cannot be told from here.", command)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **more},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TMUX_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Went(False, f"{name} did not answer.", command)
    return (
        Went(True, f"Shown in {name}.") if done.returncode == 0 else Went(False, f"{name} refused.", command)
    )


def _by_hand(place: "Whereabouts") -> Went:
    """An editor opens a folder's window, but none can be told to show one of its terminals."""
    session = place.get("session") or {}
    cwd, program = session.get("cwd"), place.get("program")
    if program == "vscode" and isinstance(cwd, str) and cwd.startswith("/"):
        return Went(
            False, "It runs in a terminal of VS Code, which cannot be told to show it.", ["code", cwd]
        )
    if program:
        return Went(False, f"It runs in {clean(program)}, which cannot be told to show it.")
    pid = clean(session.get("pid"))
    return Went(False, f"No terminal is known for it{f' (process {pid})' if pid else ''}.")
