"""Descent: whether a session was started, or launched, by a process, by what is recorded.

Rules
  1. Two records lead up: the agent process above a session when it began, and the session that launched it where the
     kernel does not show that (a tmux window).
  2. What is compared is the process at the other end. An earlier session of the same process counts; the same
     conversation in another process does not.
  3. A process is not below itself.

Not here: what the kernel shows now, and marks (daemon/identity/caller.py).
"""

from collections.abc import Mapping

from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.session import Session, SessionId


def is_of(session: Session, process: ProcessIdentity) -> bool:
    return session.process is not None and same_process(session.process, process) is Match.SAME


def descends(session: Session, process: ProcessIdentity, sessions: Mapping[SessionId, Session]) -> bool:
    """Whether a chain of recorded parents and launchers leads from the session up to that process."""
    seen: set[SessionId] = set()
    waiting = [session]
    while waiting:
        for id in _above(waiting.pop()):
            above = sessions.get(id)
            if above is None or id in seen:
                continue
            if is_of(above, process):
                return not is_of(session, process)
            seen.add(id)
            waiting.append(above)
    return False


def _above(session: Session) -> list[SessionId]:
    launched = session.registration
    found = (session.parent, SessionId(launched.by) if launched is not None else None)
    return [each for each in found if each is not None]
