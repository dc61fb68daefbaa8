"""Where a session works: the repository and branch of its directory, told from outside.

Rules of this file
  1. A word on a directory that the session has left says nothing.
  2. No repository is a word too: whoever left one is not shown in it.

Not here: reading git's files (system/git.py), when that is done (daemon/checkouts.py).
"""

from typing import Any

from headcount.core.detail import traced
from headcount.core.events import EventType
from headcount.core.evidence import CheckoutSeen
from headcount.core.session import SessionId
from headcount.core.world import Draft


def hear_checkout(draft: Draft, located: CheckoutSeen, now: float) -> SessionId | None:
    session = draft.sessions.get(located.session)
    if session is None or not session.is_open or session.cwd != located.cwd:
        return None
    if session.checkout != located.checkout:
        changes: dict[str, Any] = {"checkout": located.checkout}
        origins = traced(session.origins, changes, "git", located.at)
        draft.emit(EventType.SESSION_CHANGED, located.at, session.id, **changes | origins)
    return located.session
