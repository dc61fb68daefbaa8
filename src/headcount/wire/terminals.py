"""The messages of places: where a session is, and how its conversation is gone on with.

Rules
  1. The rules of sessions.py: fields are only ever added, absent facts are null.
"""

import msgspec

from headcount.wire.sessions import SessionRow


class Whereabouts(msgspec.Struct, kw_only=True):
    """Where a session is, looked up now."""

    session: SessionRow
    known: bool  # false: it could not be found out now; the rest is what was known last
    because: str | None  # with known=false: why
    program: str | None  # tmux, kitty, wezterm, vscode, ...; null: no terminal that we know
    socket: str | None  # where that program is told things
    pane: str | None
    window: str | None
    server: int | None = None  # of tmux: its pid, and since when it runs by its own word
    server_since: int | None = None


class Resumption(msgspec.Struct, kw_only=True):
    """How to go on with a session's conversation."""

    session: SessionRow
    command: list[str]  # the agent's own
    cwd: str | None  # where to run it
    alive_in: SessionRow | None  # who has the conversation now
