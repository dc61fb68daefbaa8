"""The messages of guarding: what git is about to do, and what is in its way.

Rules of this file
  1. As in messages.py: names are only ever added.
"""

import msgspec

from headcount.wire.messages import Holder


class GitIntent(msgspec.Struct, kw_only=True):
    """What git is about to do: the files a commit touches, absolute, and the branches it moves, as items."""

    paths: list[str] = []
    items: list[str] = []


class Conflict(msgspec.Struct, kw_only=True):
    item: str
    holder: Holder
    since: str
    liveness: str | None
    activity: str | None
    touches: list[str]  # of the paths asked for: those it covers, the first of them
    doing: str | None = None  # what its session is at, as in the list of sessions
    note: str | None = None  # what the holder said that it is for


class Conflicts(msgspec.Struct, kw_only=True):
    conflicts: list[Conflict]
