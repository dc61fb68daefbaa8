"""Leftovers: what ended sessions left, in rows."""

from typing import Any

import msgspec


class LeftoverRow(msgspec.Struct, kw_only=True):
    """What an ended session left. The figures are of now, and null where they cannot be read or make no sense."""

    id: str
    kind: str  # process, second-writer, pane, worktree, record
    session: str | None  # null: nobody that is remembered left it
    pid: int | None
    what: str
    evidence: list[str]
    found_at: str
    gone_at: str | None
    age_s: float | None  # how long the process runs
    cpu_s: float | None
    memory_bytes: int | None
    ports: list[int]  # on which it listens
    facts: dict[str, Any]


class Leftovers(msgspec.Struct, kw_only=True):
    leftovers: list[LeftoverRow]
