"""A visit: somebody went to a session's terminal and has seen what it finished.

Rules of this file
  1. Only `done` is changed by a look: who waits, works or was stopped still does. It is then at rest with nothing new.
  2. It is a word on the main turn like any other, with a time of its own: an older report that comes late does not
     bring `done` back, the next turn that ends does.

Not here: who went there (cli/commands/jump.py), what words mean (activity.py).
"""

from headcount.core.activity import Doing, Turned, judge
from headcount.core.events import EventType
from headcount.core.evidence import Visited
from headcount.core.report import Turn
from headcount.core.session import SessionId
from headcount.core.world import Draft

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
