"""The aftermath of a death in words: what it freed, what it left, and how to go on.

Rules of this file
  1. `freed task:I18N-4; left 2 processes, 1 dirty worktree. To go on: headcount resume 02b7`: only what there is.
     Items of more than a word are in quotes, so that none looks like the command behind them.
  2. In `watch` it is the death's second line: what happened in between to the same session is told there, once.

Not here: the other events (present/event_lines.py), the list of leftovers (commands/leftovers.py).
"""

from typing import Any

from headcount.cli.sanitize import clean, said_item
from headcount.present import session_words

NAMES = {
    "process": ("process", "processes"),
    "second-writer": ("second writer", "second writers"),
    "pane": ("pane", "panes"),
    "worktree": ("dirty worktree", "dirty worktrees"),
    "record": ("stale record", "stale records"),
}

Event = dict[str, Any]


def text_of(event: Event) -> str:
    facts, raw = event.get("facts") or {}, event.get("session") or {}
    parts = []
    freed = [said_item(item) for item in facts.get("freed") or ()]
    if freed:
        parts.append(f"freed {', '.join(freed)}")
    left = facts.get("left") or {}
    counted = [
        _counted(left[kind], kind) for kind in [*NAMES, *sorted(set(left) - set(NAMES))] if left.get(kind)
    ]
    if counted:
        parts.append(f"left {', '.join(counted)}")
    told = ["; ".join(parts)] if parts else []
    if facts.get("resumable"):
        told.append(f"To go on: headcount resume {clean(raw.get('id'))[: session_words.SHORTEST_ID]}")
    return ". ".join(told)


def of_a_leftover(event: Event) -> str:
    """`02b7 i18n left a process: 41377 node vite`, `gone: …`."""
    left, raw = event.get("leftover") or {}, event.get("session")
    one, _ = NAMES.get(str(left.get("kind")), (clean(left.get("kind")), ""))
    pid = f"{clean(left.get('pid'))} " if left.get("pid") else ""
    what = f"{one} {pid}{clean(left.get('what'))}"
    if event.get("type") == "leftover.gone":
        return f"gone: {what}"
    return (
        f"{session_words.who(raw)} left: {what}"
        if isinstance(raw, dict)
        else f"left by nobody that is known: {what}"
    )


def _counted(count: Any, kind: str) -> str:
    one, many = NAMES.get(kind, (clean(kind), clean(kind)))
    return f"{clean(count)} {one if count == 1 else many}"


class Deaths:
    """Of a stream of events: which belong to a death that is still being looked into."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._last: str | None = None  # whose death was told last, with nothing told since

    def takes(self, event: Event) -> bool:
        """Whether the event will be part of a death's second line, and is not told by itself."""
        kind = event.get("type")
        if kind in ("snapshot", "headcount.started"):
            self._open.clear()
        if kind == "claim.released" and event.get("because") == "died":
            return str((event.get("holder") or {}).get("session")) in self._open
        return kind == "leftover.found" and _id(event) in self._open

    def told(self, event: Event) -> None:
        """Of every event that was told, in order."""
        ended = (
            (event.get("session") or {}).get("ended") or {} if event.get("type") == "session.ended" else {}
        )
        if ended and ended.get("kind") not in ("superseded", "reported", "rebooted"):
            self._open.add(_id(event))
            self._last = _id(event)
        else:
            self._last = None

    def follows(self, event: Event) -> bool:
        """Whether that death was the last thing told: then its second line stands under it."""
        return event.get("type") == "session.examined" and self._last == _id(event)

    def is_over(self, event: Event) -> None:
        if event.get("type") == "session.examined":
            self._open.discard(_id(event))


def _id(event: Event) -> str:
    return str((event.get("session") or {}).get("id"))
