"""Where a session works: the repository and branch of its directory, told from outside.

Rules of this file
  1. A word on a directory that the session has left says nothing.
  2. No repository is a word too: whoever left one is not shown in it.

Not here: reading git's files (system/git_repository.py), when that is done (daemon/observers/checkouts.py).
"""

from typing import Any

from headcount.core.detail import traced
from headcount.core.state.world import Draft
from headcount.core.values.events import EventType
from headcount.core.values.evidence import CheckoutSeen
from headcount.core.values.session import SessionId


def hear_checkout(draft: Draft, located: CheckoutSeen, now: float) -> SessionId | None:
    session = draft.sessions.get(located.session)
    if session is None or not session.is_open or session.cwd != located.cwd:
        return None
    if session.checkout != located.checkout:
        changes: dict[str, Any] = {"checkout": located.checkout}
        origins = traced(session.origins, changes, "git", located.at)
        draft.emit(EventType.SESSION_CHANGED, located.at, session.id, **changes | origins)
    return located.session
