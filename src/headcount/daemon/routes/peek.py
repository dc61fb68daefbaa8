"""Peeking: the last lines of a session's conversation or of its terminal, for a person or for itself.

Rules
  1. Nothing of it is stored and nothing is logged: it is read, answered, forgotten.
  2. The operator may look at every session, an agent only at its own. What another agent was told is none of its
     business, and text that it copied from there would be an injection.
  3. Reads are bounded, off the loop and in time.
  4. A pane is the session's where tmux says that its process runs in it, whatever its environment claims, and only
     while no other session is in it: what that one shows is not this one's.

Not here: reading a transcript (agents/), a pane (system/tmux).
"""

from functools import partial
from pathlib import Path

from headcount.agents.catalog import AGENTS
from headcount.bounded_thread import Late
from headcount.core.values.session import Session
from headcount.core.values.terminal import TMUX, TerminalPlace
from headcount.daemon.api.route import Call
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.observers.terminals import NotKnown
from headcount.daemon.routes.terminals import place_of
from headcount.daemon.views.session_row import time_text
from headcount.system import tmux
from headcount.times import PEEK_WITHIN
from headcount.wire.sessions import Peek, PeekLine

LINES_MOST = 500
LINES_USUAL = 20


async def peek_session(call: Call) -> Peek:
    session = call.session()
    _check_is_own(call, session)
    lines = max(1, min(call.number("lines", LINES_USUAL), LINES_MOST))
    if call.flag("pane"):
        return await _of_the_pane(call, session, lines)
    return await _of_the_transcript(call, session, lines)


def _check_is_own(call: Call, session: Session) -> None:
    if call.actor.is_agent and call.actor.session != session.id:
        raise HttpRefusal(
            403,
            "not-yours",
            f"{session.id[:4]} is another agent's session; an agent may peek only at its own.",
            "People may, in a shell outside every agent.",
        )


async def _of_the_transcript(call: Call, session: Session, lines: int) -> Peek:
    agent = AGENTS.get(session.agent)
    if agent is None or session.transcript is None or session.conversation is None:
        raise _nothing(session, "no transcript of it is known", "its terminal")
    look = partial(agent.peek, Path(session.transcript), session.conversation, lines)
    try:
        said = await call.parts.looks.ask(look, PEEK_WITHIN)
    except Late:
        raise _nothing(session, "its transcript could not be read in time", "its terminal") from None
    if said is None:
        raise _nothing(session, "its transcript cannot be read", "its terminal")
    return Peek(
        session=session.id,
        source="transcript",
        lines=[
            PeekLine(who=each.who, text=each.text, at=None if each.at is None else time_text(each.at))
            for each in said
        ],
    )


async def _of_the_pane(call: Call, session: Session, lines: int) -> Peek:
    if not session.is_open or session.process is None:
        raise _nothing(session, "it has no living process, so no pane", "its transcript")
    place = await place_of(call, session)
    if isinstance(place, NotKnown):
        raise _nothing(session, place.why, "its transcript")
    if place is None or place.program != TMUX:
        raise _nothing(session, "it does not run in tmux", "its transcript")
    if _is_shared(call, session, place):
        raise _nothing(session, "another session is in its pane", "its transcript")
    try:
        shown = await call.parts.looks.ask(partial(tmux.capture, place, lines), PEEK_WITHIN)
    except Late:
        shown = None
    if shown is None:
        raise _nothing(session, "its tmux server does not show that pane", "its transcript")
    return Peek(
        session=session.id, source="pane", lines=[PeekLine(who=None, text=each, at=None) for each in shown]
    )


def _is_shared(call: Call, session: Session, place: TerminalPlace) -> bool:
    others = (each for each in call.parts.loop.world.open_sessions() if each.id != session.id)
    return any(
        each.where is not None and (each.where.socket, each.where.pane) == (place.socket, place.pane)
        for each in others
    )


def _nothing(session: Session, why: str, other: str) -> HttpRefusal:
    short = session.id[:4]
    way = f"headcount peek {short}" + (" --pane" if other == "its terminal" else "")
    return HttpRefusal(404, "nothing-to-peek", f"Nothing to see of {short}: {why}.", f"Try {other}: {way}")
