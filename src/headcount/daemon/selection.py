"""Selection: which session a person means by an id, the beginning of one, or a name.

Rules of this file
  1. A whole id or a whole name wins over a beginning; the living win over the ended.
  2. What fits several is an error that lists them, never a pick.
"""

from collections.abc import Iterable

from headcount.core.session import Session
from headcount.daemon.gate import Refused
from headcount.daemon.moment import clock_text

LISTED_MOST = 6


def select(sessions: Iterable[Session], wanted: str) -> Session:
    everyone = list(sessions) if wanted else []  # every id begins with nothing
    for fits in (
        [each for each in everyone if each.id == wanted or (each.conversation == wanted and each.is_open)],
        [each for each in everyone if each.is_open and each.name == wanted],
        [each for each in everyone if each.is_open and each.id.startswith(wanted)],
        [each for each in everyone if each.id.startswith(wanted)],
        [each for each in everyone if each.name == wanted],
        [each for each in everyone if each.conversation is not None and each.conversation == wanted],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            return _newest_of_one_name(fits, wanted)
    raise Refused(404, "no-such-session", f'No session matches "{wanted[:60]}".', "See: headcount ps --all")


def _newest_of_one_name(fits: list[Session], wanted: str) -> Session:
    """Ended stretches of one conversation are one thing to a person: the last is meant."""
    conversations = {each.conversation for each in fits}
    if len(conversations) == 1 and None not in conversations and not any(each.is_open for each in fits):
        return max(fits, key=lambda each: each.started_at)
    listed = ", ".join(f"{each.id[:4]} {each.name or each.agent}" for each in fits[:LISTED_MOST])
    more = "Type an id" if any(each.name == wanted for each in fits) else "Type more, or a name"
    raise Refused(400, "ambiguous", f'"{wanted[:60]}" matches {listed}. {more}.')


def ended_words(session: Session) -> str:
    assert session.ended is not None
    return f"ended {clock_text(session.ended.at)} ({session.ended.because})"
