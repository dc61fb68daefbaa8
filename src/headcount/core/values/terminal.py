"""The terminal that shows a session, and how it is found from tmux panes and the environment.

Rules
  1. A place is for people to look at and go to. It is never identity: several sessions may share it (I3).
  2. In tmux the kernel decides: the pane whose own process is the agent, or its nearest ancestor. The
     environment only names the server, because terminals started inside a pane inherit its variables.
  3. An unknown place is no place. If tmux could not be asked, nothing changes.
  4. A place is a value and knows nothing about sessions.

Not here: asking tmux (system/tmux), when it is asked (daemon/observers/terminals.py), going there
  (cli/actions/jump_to_terminal.py).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

TMUX = "tmux"
NUMBER = re.compile("[0-9]{1,10}")

NAMES = frozenset({
    "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERMINAL_EMULATOR", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "WEZTERM_PANE",
    "WEZTERM_UNIX_SOCKET", "ZELLIJ_SESSION_NAME", "STY", "SSH_TTY",
})  # fmt: skip
"""What is read of an agent's environment to find its terminal."""

PROGRAMS = {
    "vscode": "vscode",
    "iTerm.app": "iterm",
    "Apple_Terminal": "terminal",
    "ghostty": "ghostty",
    "WarpTerminal": "warp",
    "zed": "zed",
}
"""TERM_PROGRAM in our words; what is not here is not shown, since it is foreign text."""


class TerminalPlace(Struct, frozen=True):
    program: str  # "tmux", "kitty", "wezterm", "vscode", ...
    text: str  # as people see it: "work:3.1", "vscode"
    socket: str | None = None  # where that program is told things
    pane: str | None = None  # its own name for the place: "%5" in tmux, a number in kitty and WezTerm
    window: str | None = None  # in tmux: "@3"
    server: int | None = (
        None  # in tmux: the server's pid, and since when it runs by its own word; pane names are
    )
    server_since: int | None = None  # given anew by the next server


class Pane(Struct, frozen=True):
    """One pane of one tmux server, as that server lists it."""

    socket: str
    server: int  # its pid
    server_since: int  # when it began, by its own word: a later server has the same pane ids
    id: str  # %5
    window: str  # @3
    pid: int  # of the process that tmux started in it
    dead: bool  # that process has ended, and the pane was kept
    attached: bool  # somebody looks at its session
    session: str
    window_index: int
    index: int
    window_name: str = ""
    program: str = ""  # what its terminal runs in front, by tmux's word

    @property
    def text(self) -> str:
        """As people and tmux name it: `work:3.1`."""
        return f"{self.session}:{self.window_index}.{self.index}"

    def is_same(self, where: TerminalPlace) -> bool:
        """Whether that is where somebody was: this pane of this very server."""
        return (self.socket, self.server, self.server_since, self.id) == (
            where.socket,
            where.server,
            where.server_since,
            where.pane,
        )


def pane_of(chain: Sequence[int], panes: Iterable[Pane]) -> Pane | None:
    """The pane whose process is the nearest in the chain: an agent's pid first, then those above it. A pane that
    several sessions of tmux show is named by the one that somebody looks at."""
    living = [pane for pane in panes if not pane.dead]
    for pid in chain:
        mine = [pane for pane in living if pane.pid == pid]
        if mine:
            return max(mine, key=lambda pane: pane.attached)
    return None


def in_tmux(pane: Pane) -> TerminalPlace:
    return TerminalPlace(
        program=TMUX,
        text=pane.text,
        socket=pane.socket,
        pane=pane.id,
        window=pane.window,
        server=pane.server,
        server_since=pane.server_since,
    )


def server_socket(environ: Mapping[str, str]) -> str | None:
    """The tmux server that an environment names: `/tmp/tmux-1000/default,4711,0`."""
    parts = environ.get("TMUX", "").rsplit(",", 2)
    return parts[0] if len(parts) == 3 and parts[0].startswith("/") else None


def by_environment(environ: Mapping[str, str]) -> TerminalPlace | None:
    """The terminal that the environment names, of those that are not tmux."""
    kitty, wezterm = environ.get("KITTY_WINDOW_ID", ""), environ.get("WEZTERM_PANE", "")
    if NUMBER.fullmatch(kitty):
        return TerminalPlace("kitty", "kitty", environ.get("KITTY_LISTEN_ON"), kitty)
    if NUMBER.fullmatch(wezterm):
        return TerminalPlace("wezterm", "wezterm", environ.get("WEZTERM_UNIX_SOCKET"), wezterm)
    program = PROGRAMS.get(environ.get("TERM_PROGRAM", ""))
    if program is None and environ.get("TERMINAL_EMULATOR") == "JetBrains-JediTerm":
        program = "jetbrains"
    for name, word in (("ZELLIJ_SESSION_NAME", "zellij"), ("STY", "screen"), ("SSH_TTY", "ssh")):
        if program is None and environ.get(name):
            program = word
    return TerminalPlace(program, program) if program else None
