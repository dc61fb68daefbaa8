"""Details: what a row tells of a session beside whether it lives and what it does.

Rules of this file
  1. Values only. A figure is what the agent's own files say; what they do not say is None, never an estimate.
  2. Each traced field has an origin: the source that said it, and when. A later word replaces it.
  3. Nothing here decides anything: liveness and activity never look at a detail.

Not here: when a session stands still (core/sessions/stalls.py), which words set which field (core/sessions/field_changes.py).
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Origin(Struct, frozen=True, omit_defaults=True):
    field: str
    source: str  # "hook", "http", "registry", "transcript", "scan", "git"
    at: float


class Checkout(Struct, frozen=True, omit_defaults=True):
    """The repository that its directory is in. A directory is never identity; this is for people."""

    repo: str
    branch: str | None
    worktree: str | None = None  # the checkout's top, when it is a linked worktree


class Spent(Struct, frozen=True, omit_defaults=True):
    """What the conversation took in all, by the agent's own count."""

    input: int
    output: int
    cost_usd: float | None = None


class Stall(Struct, frozen=True, omit_defaults=True):
    """A working session in which nothing stirs: when each source last did. None: it has no such source."""

    at: float  # when that was noticed
    heard_at: float
    cpu_at: float
    transcript_at: float | None = None


class Quiet(Struct, frozen=True, omit_defaults=True):
    """A declared silence."""

    at: float
    until: float
    why: str
    by: str  # "operator", or the session itself


TRACED = frozenset({
    "cwd", "name", "title", "model", "context_tokens", "context_window", "transcript", "permission_mode", "entrypoint",
    "version", "spent", "checkout",
})  # fmt: skip


def traced(known: tuple[Origin, ...], changes: Mapping[str, Any], source: str, at: float) -> dict[str, Any]:
    """The origins after those changes, as a change of its own; nothing when none of them is traced."""
    fresh = [Origin(name, source, at) for name in changes if name in TRACED]
    if not fresh:
        return {}
    replaced = {each.field for each in fresh}
    return {"origins": (*(each for each in known if each.field not in replaced), *fresh)}
