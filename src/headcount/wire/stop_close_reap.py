"""The messages of ending: stop, close and reap, and what came of each.

Rules
  1. The rules of sessions.py: fields are only ever added, absent facts are null.
"""

import msgspec


class Signalled(msgspec.Struct, kw_only=True):
    """What became of one process that was to be ended."""

    pid: int
    what: str
    session: str | None
    leftover: str | None
    outcome: str  # exited, killed, survived, over (before it was signalled), refused; of a dry run: would
    because: str
    seconds: float | None  # from the signal to the end


class StopWish(msgspec.Struct, kw_only=True):
    kill_after: float | None = None  # seconds after which SIGKILL is sent; null: never
    all: bool = False  # also if other living sessions are in its process, or run below it


class StopAnswer(msgspec.Struct, kw_only=True):
    session: str
    ended: bool
    results: list[Signalled]


class CloseWish(msgspec.Struct, kw_only=True):
    kill_after: float | None = None
    all: bool = False  # as in StopWish; and also other live processes of the conversation
    close_window: bool = False  # its tmux window too, also when headcount did not open it


class CloseAnswer(msgspec.Struct, kw_only=True):
    session: str
    closed: bool  # false: the agent survived, and nothing else was touched
    results: list[Signalled]
    others: list[int]  # live processes of the conversation that were left alone
    window: str | None  # what was done with its window
    resume: list[str] | None  # the command that goes on with the conversation
    again: bool = False  # it had been closed before


class ReapWish(msgspec.Struct, kw_only=True):
    """Which leftovers; all of them when nothing is named. Only processes are ended."""

    yes: bool = False  # false: a dry run
    sessions: list[str] = []
    pids: list[int] = []
    ids: list[str] = []
    kind: str | None = None
    kill_after: float | None = None


class ReapAnswer(msgspec.Struct, kw_only=True):
    dry: bool
    results: list[Signalled]
    left_alone: list[str]  # what was chosen and is never ended
