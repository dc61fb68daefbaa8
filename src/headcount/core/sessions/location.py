"""Record where a session is (terminal, repository and branch), and that a person visited its terminal.

Rules
  1. A visit changes only `done`, to idle. A session that waits, works or has stopped stays as it is.
  2. A visit counts as a report about the main turn, with its own time: a late, older report does not bring
     `done` back, but the next turn that ends does.
  3. A report about a directory that the session has left is ignored.
  4. "No repository" is a report too: a session that left a repository is no longer shown in it.

Not here: going to a terminal (cli/commands/jump.py), what reports mean (core/values/activity.py), reading
  git's files (system/git/repository.py) and when that happens (daemon/observers/checkouts.py).
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
