"""The messages of asking who one is: the answer, and every way that was tried.

Rules of this file
  1. As in sessions.py: names are only ever added.
"""

import msgspec


class Rung(msgspec.Struct, kw_only=True):
    rung: str  # peer, token, environment, operator
    taken: bool
    why: str
    session: str | None


class Me(msgspec.Struct, kw_only=True):
    kind: str  # agent, descendant; with explain also operator, nobody
    session: str | None
    agent: str | None
    conversation: str | None
    pid: int | None  # of the agent's process
    resolved_by: str | None  # peer, token, environment
    name: str | None
    role: str | None
    groups: list[str]
    above: list[str]  # the sessions that this one was started inside, nearest first
    rungs: list[Rung]  # empty unless asked for
    refusal: str | None = None  # of a nobody: what was wrong with what it offered
    way_out: str | None = None  # of a nobody: what it can do about that, where there is something
