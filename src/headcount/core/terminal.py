"""A place in a terminal, as a value that a session carries.

Rules of this file
  1. It is a value and knows nothing of sessions.

Not here: how it is found (core/values/terminal.py).
"""

from msgspec import Struct


class Where(Struct, frozen=True):
    program: str  # "tmux", "kitty", "wezterm", "vscode", ...
    text: str  # as people see it: "work:3.1", "vscode"
    socket: str | None = None  # where that program is told things
    pane: str | None = None  # its own name for the place: "%5" in tmux, a number in kitty and WezTerm
    window: str | None = None  # in tmux: "@3"
    server: int | None = (
        None  # in tmux: the server's pid, and since when it runs by its own word; pane names are
    )
    server_since: int | None = None  # given anew by the next server
