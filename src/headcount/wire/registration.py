"""Register a session, or withdraw a registration."""

import msgspec

from headcount.wire.faults import Fault
from headcount.wire.sessions import SessionRow


class Registration(msgspec.Struct, kw_only=True):
    """What is registered. `pid`: the process of the session; without it the agent above the caller, or the caller."""

    agent: str
    conversation: str | None = None
    pid: int | None = None
    name: str | None = None
    role: str | None = None
    groups: list[str] = []
    anyway: bool = False  # although the conversation is alive elsewhere
    launch: bool = False  # a token is wanted
    window: bool = False  # the tmux window that it is in was opened for it
    launched_by: str | None = None  # of a window: the session that opened it


class Registered(msgspec.Struct, kw_only=True):
    session: str
    pid: int
    token_file: str | None  # the path of a private file; the token is nowhere else


class NotRegistered(msgspec.Struct, kw_only=True):
    """The 409 of a registration: the fault, and the session that is in the way."""

    error: Fault
    session: SessionRow | None


class Withdrawn(msgspec.Struct, kw_only=True):
    session: str
    withdrawn: bool  # false: it had no registration
    alive: bool  # its process goes on, and so does the session
