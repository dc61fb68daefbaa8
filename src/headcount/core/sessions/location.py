"""A visit: somebody went to a session's terminal and has seen what it finished.

Where a session works: the repository and branch of its directory, told from outside.

Rules
  1. Only `done` is changed by a look: who waits, works or was stopped still does. It is then at rest with
     nothing new.
  2. It is a word on the main turn like any other, with a time of its own: an older report that comes late
     does not bring `done` back, the next turn that ends does.
  3. A word on a directory that the session has left says nothing.
  4. No repository is a word too: whoever left one is not shown in it.

Not here: who went there (cli/commands/jump.py), what words mean (core/values/activity.py); reading git's
  files (system/git/repository.py), when that is done (daemon/observers/checkouts.py).
"""

from headcount.core.state.world import Draft
from headcount.core.values.activity import Doing, Turned, judge
from headcount.core.values.events import EventType
from headcount.core.values.evidence import CheckoutSeen, Located, Visited
from headcount.core.values.report import Turn
from headcount.core.values.session import Changes, SessionId, traced

BECAUSE, SOURCE = "visited", "person"


def visit(draft: Draft, visited: Visited, now: float) -> SessionId | None:
    """None: it has ended, or was never there."""
    session = draft.sessions.get(visited.session)
    if session is None or not session.is_open:
        return None
    if session.activity.doing is Doing.DONE:
        at = max(visited.at, session.activity.at)
        turned = Turned(at, Turn.SETTLED, BECAUSE, SOURCE)
        activity = judge(turned, session.status, session.activity)
        draft.emit(EventType.SESSION_ACTIVITY, visited.at, session.id, turned=turned, activity=activity)
    return visited.session


def locate(draft: Draft, found: Located, now: float) -> None:
    session = draft.sessions.get(found.session)
    if session is None or not session.is_open or session.where == found.where:
        return
    draft.emit(EventType.SESSION_CHANGED, min(found.at, now), session.id, where=found.where)


def hear_checkout(draft: Draft, located: CheckoutSeen, now: float) -> SessionId | None:
    session = draft.sessions.get(located.session)
    if session is None or not session.is_open or session.cwd != located.cwd:
        return None
    if session.checkout != located.checkout:
        changes: Changes = {"checkout": located.checkout}
        origins = traced(session.origins, changes, "git", located.at)
        draft.emit(EventType.SESSION_CHANGED, located.at, session.id, **changes | origins)
    return located.session
