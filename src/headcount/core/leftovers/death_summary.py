"""Aftermath: the one line that a death is told with, and the notice before an idle session is closed.

Rules
  1. A death is told at once; what it freed and left is told once, when all of that was looked for.
  2. The counts are of leftovers that are there, by the rows, not by who looked.
  3. A notice changes nothing: it is there so that nobody is surprised.

Not here: looking (daemon/leftovers/collect.py), closing (daemon/ending/idle_close.py).
"""

from collections import Counter

from headcount.core.state.world import Draft
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Examined, Noticed
from headcount.core.values.leftover import Leftover


def examined(draft: Draft, examined: Examined, now: float) -> None:
    session = draft.sessions.get(examined.session)
    if session is None or session.is_open:
        return
    left: list[Leftover] = [each for each in draft.remains.of_session(session.id) if each.is_there]
    draft.emit(
        EventType.SESSION_EXAMINED,
        min(examined.at, now),
        session.id,
        facts={
            "freed": list(examined.freed),
            "left": dict(Counter(each.kind.value for each in left)),
            "resumable": examined.resumable,
        },
    )


def noticed(draft: Draft, noticed: Noticed, now: float) -> None:
    session = draft.sessions.get(noticed.session)
    if session is not None and session.is_open:
        draft.emit(
            EventType.SESSION_CLOSING,
            min(noticed.at, now),
            session.id,
            facts={"idle_since": noticed.idle_since, "closes_at": noticed.closes_at},
        )
