"""Peeking: the last lines of a session's conversation or of its terminal, for a person or for itself.

Rules of this file
  1. Nothing of it is stored and nothing is logged: it is read, answered, forgotten.
  2. The operator may look at every session, an agent only at its own. What another agent was told is none of its
     business, and text that it copied from there would be an injection.
  3. Reads are bounded and off the loop.

Not here: reading a transcript (agents/), a pane (system/pane.py).
"""

import asyncio
from pathlib import Path

from headcount.agents.table import AGENTS
from headcount.core.session import Session
from headcount.daemon.gate import Refused
from headcount.daemon.routes.route import Call
from headcount.daemon.view import time_text
from headcount.system.pane import NAMES, capture, pane_of
from headcount.wire.closer import Peek, PeekLine

LINES_MOST = 500
LINES_USUAL = 20


async def peek_session(call: Call) -> Peek:
    session = call.session()
    _check_is_own(call, session)
    lines = max(1, min(call.number("lines", LINES_USUAL), LINES_MOST))
    if call.flag("pane"):
        return await _of_the_pane(call, session, lines)
    return await _of_the_transcript(session, lines)


def _check_is_own(call: Call, session: Session) -> None:
    if call.actor.is_agent and call.actor.session != session.id:
        raise Refused(
            403,
            "not-yours",
            f"{session.id[:4]} is another agent's session; an agent may peek only at its own.",
            "People may, in a shell outside every agent.",
        )


async def _of_the_transcript(session: Session, lines: int) -> Peek:
    agent = AGENTS.get(session.agent)
    if agent is None or session.transcript is None or session.conversation is None:
        raise _nothing(session, "no transcript of it is known", "its terminal")
    said = await asyncio.to_thread(agent.peek, Path(session.transcript), session.conversation, lines)
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
    pane = pane_of(call.service.processes.environ(session.process, NAMES))
    if pane is None:
        raise _nothing(session, "it does not run in tmux", "its transcript")
    shown = await capture(pane, lines)
    if shown is None:
        raise _nothing(session, "its tmux server does not show that pane", "its transcript")
    return Peek(
        session=session.id, source="pane", lines=[PeekLine(who=None, text=each, at=None) for each in shown]
    )


def _nothing(session: Session, why: str, other: str) -> Refused:
    short = session.id[:4]
    way = f"headcount peek {short}" + (" --pane" if other == "its terminal" else "")
    return Refused(404, "nothing-to-peek", f"Nothing to see of {short}: {why}.", f"Try {other}: {way}")
