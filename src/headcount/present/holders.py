"""Describe the holder of an item in the words that people and agents read.

Rules
  1. `7f3a auth-refactor since 13:20 (alive, working: Edit: f.ts), for "login form"`: who, since when, doing
     what, and what for, where that is known.
  2. A refusal suggests waiting, never releasing, because agents copy what they read.
  3. The holder's row is requested only when somebody will read about it.

Not here: asking for an item (client/claims.py), who gets it (core/claims/ledger.py).
"""

import time
from typing import TYPE_CHECKING

from headcount.clean_text import clean, command, in_quotes, said
from headcount.present import time_text

if TYPE_CHECKING:
    from headcount.wire.views import Conflict, Holder, SessionRow

SHORT = 4
WAIT_SUGGESTED = 600

DOING = {
    "working": "working",
    "waiting": "waiting for its user",
    "done": "finished its turn",
    "failed": "stopped by an error or a limit",
    "idle": "idle",
}


def name_of(holder: "Holder | None", row: "SessionRow | None" = None) -> str:
    """`7f3a auth-refactor`, or `process 4711` for a holder without a session."""
    if not isinstance(holder, dict):
        return "nobody"
    session = clean(holder.get("session"))
    if not session:
        return f"process {clean(holder.get('pid'))}{_on(holder)}"
    name = (row or {}).get("name") or holder.get("name")
    return session[:SHORT] + (f" {said(name)}" if name else "") + _on(holder)


def with_pid(holder: "Holder | None") -> str:
    """`7f3a auth-refactor (pid 41377)`, of a holder whose claim was changed."""
    pid = holder.get("pid") if isinstance(holder, dict) and holder.get("session") else None
    return name_of(holder) + (f" (pid {clean(pid)})" if pid else "")


def _on(holder: "Holder") -> str:
    """Of a holder on another host: where."""
    return f" on {said(holder.get('host'))}" if is_elsewhere(holder) else ""


def is_elsewhere(holder: "Holder | None") -> bool:
    return isinstance(holder, dict) and holder.get("here") is False


def state_of(row: "SessionRow | Conflict") -> str:
    """` (alive, working: Edit: f.py)`, with what `ps` shows that it does; or nothing when nothing is known."""
    if not row:
        return ""
    doing = [DOING.get(str(row.get("activity")), ""), said(row["doing"]) if row.get("doing") else ""]
    words = [clean(row.get("liveness")), ": ".join(word for word in doing if word)]
    return f" ({', '.join(word for word in words if word)})"


def what_for(note: object) -> str:
    """`, for "login form"`: the holder's own words, cut."""
    return f", for {in_quotes(note)}" if clean(note).strip() else ""


def since(stamp: object) -> str:
    at = time_text.parse(stamp)
    return "" if at is None else f" since {time_text.clock(at, time.time()).rpartition(':')[0]}"


def waiting(item: object, verb: str = "claim", *more: str) -> str:
    """The command that waits for an item."""
    return command("headcount", verb, str(item), "--wait", str(WAIT_SUGGESTED), *more)
