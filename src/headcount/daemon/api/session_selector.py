"""Selection: which session a person means by an id, a conversation, the beginning of an id, or a name.

Rules
  1. A whole id wins. Then the beginnings of ids, conversations and names are looked at together: what fits
     several is an error that lists them, never a pick. A conversation wins over a name.
  2. What looks like an id (four or more hex digits) is an id: an agent may be called so, and is not meant.
  3. The living win over the ended.

Not here: whether the caller may do it (permissions.py).
"""

from collections.abc import Iterable

from headcount.clean_text import said
from headcount.core.values.session import ID_DIGITS, Session, looks_like_an_id
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.views.timestamps import clock_text

LISTED_MOST = 6
SHORTEST_ID = 4


def select(sessions: Iterable[Session], wanted: str) -> Session:
    everyone = list(sessions) if wanted else []  # every id begins with nothing
    is_id = looks_like_an_id(wanted)
    named = [] if is_id else [each for each in everyone if each.name == wanted]
    if not (is_id and len(wanted) <= ID_DIGITS):
        named += [each for each in everyone if each.conversation == wanted]
    begin = [each for each in everyone if each.id.startswith(wanted)]
    whole = [each for each in begin if each.id == wanted]
    fits = whole or list({each.id: each for each in (*begin, *named)}.values())
    fits = [each for each in fits if each.is_open] or fits
    if not fits:
        raise HttpRefusal(
            404, "no-such-session", f'No session matches "{wanted[:60]}".', "See: headcount ps --all"
        )
    return fits[0] if len(fits) == 1 else _newest_of_one_name(fits, everyone, wanted)


def _newest_of_one_name(fits: list[Session], everyone: list[Session], wanted: str) -> Session:
    """Ended stretches of one conversation are one thing to a person: the last is meant."""
    conversations = {each.conversation for each in fits}
    if len(conversations) == 1 and None not in conversations and not any(each.is_open for each in fits):
        return max(fits, key=lambda each: each.started_at)
    long = SHORTEST_ID  # as far as no other begins alike
    while sum(each.id.startswith(tuple(fit.id[:long] for fit in fits)) for each in everyone) > len(fits) or (
        len({each.id[:long] for each in fits}) < len(fits)
    ):
        long += 1
    raise HttpRefusal(400, "ambiguous", _listed(fits, wanted, long))


def _listed(fits: list[Session], wanted: str, long: int) -> str:
    listed = ", ".join(f"{each.id[:long]} {said(each.name or each.agent)}" for each in fits[:LISTED_MOST])
    count = "Two" if len(fits) == 2 else len(fits)
    more, what = "", f"Type: {' or '.join(each.id[:long] for each in fits)}."
    if len(fits) > LISTED_MOST:
        more, what = f" and {len(fits) - LISTED_MOST} more", "Type one of the ids: headcount ps --all"
    return f'{count} sessions match "{wanted[:60]}": {listed}{more}. {what}'


def ended_words(session: Session) -> str:
    assert session.ended is not None
    return f"ended {clock_text(session.ended.at)} ({session.ended.because})"
