"""Places on the wire: which terminal a session is in, and how its conversation is gone on with.

Rules
  1. Both only tell, and a visit is only noted. Going somewhere and running something is for the one who asked, with their own rights.
  2. A command is made from an id of the agent's own form, or not at all (K10).
  3. A conversation that somebody may have now is said to be theirs: also when that cannot be proved.

Not here: looking (daemon/observers/terminals.py), the agents' commands (agents/).
"""

import asyncio

from headcount.agents.catalog import AGENTS
from headcount.core.values.evidence import Visited
from headcount.core.values.session import Liveness, Session
from headcount.core.values.verdict import Standing
from headcount.daemon.api.route import Call
from headcount.daemon.api.session_selector import ended_words
from headcount.daemon.engine.loop import NotStored
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.observers.terminals import NotKnown, Place
from headcount.daemon.views.session_row import session_row
from headcount.system.mount_namespaces import is_ours
from headcount.times import TERMINAL_ASKED_WITHIN
from headcount.wire.sessions import SessionRow
from headcount.wire.terminals import Resumption, Whereabouts


async def find_terminal(call: Call) -> Whereabouts:
    session = call.session()
    place = await place_of(call, session)
    session = call.parts.loop.world.sessions.get(session.id, session)
    doubt = place if isinstance(place, NotKnown) else None
    where = session.where
    return Whereabouts(
        session=session_row(session, call.parts.loop.world),
        known=doubt is None,
        because=doubt.why if doubt else None,
        program=where.program if where else None,
        socket=where.socket if where else None,
        pane=where.pane if where else None,
        window=where.window if where else None,
        server=where.server if where else None,
        server_since=where.server_since if where else None,
    )


async def note_visit(call: Call) -> SessionRow:
    session = call.session()
    if await call.parts.loop.ask(Visited(session.id, call.parts.clock.now())) is None:
        raise HttpRefusal(
            410, "ended", f"{session.id[:4]} {ended_words(session)}.", f"See: headcount show {session.id[:4]}"
        )
    world = call.parts.loop.world
    return session_row(world.sessions[session.id], world)


async def how_to_resume(call: Call) -> Resumption:
    session = call.session()
    agent = AGENTS.get(session.agent)
    command = agent.resume(session.conversation) if agent and session.conversation else None
    if not is_ours(session.cwd or "/"):
        command = None
    if agent is None or command is None:
        raise HttpRefusal(
            409,
            "not-resumable",
            f"{session.id[:4]} cannot be resumed: {_why_not(session)}.",
            f"See: headcount show {session.id[:4]}",
        )
    host = await _host(call, session)
    return Resumption(
        session=session_row(session, call.parts.loop.world),
        command=list(command),
        cwd=agent.home_of(session.cwd, session.transcript),
        alive_in=session_row(host, call.parts.loop.world) if host else None,
    )


async def place_of(call: Call, session: Session) -> Place:
    if not session.is_open:
        return NotKnown("it has ended")
    try:
        async with asyncio.timeout(TERMINAL_ASKED_WITHIN):
            return await call.parts.terminals.locate(session)
    except TimeoutError:
        return NotKnown("looking for it took too long")


async def _host(call: Call, session: Session) -> Session | None:
    """Who has the conversation, after a proof of each one's end where there is one. Of those without a process only
    the unheard do not count: nothing would ever prove their end."""
    parts, world = call.parts, call.parts.loop.world
    ids = world.by_conversation.get((session.agent, session.conversation or ""), ())
    for each in [world.sessions[id] for id in ids]:
        if not each.is_open or each.process is None:
            continue
        judged = parts.census.ask_again(each.process)
        if judged.verdict.standing is Standing.DEAD:
            try:
                await parts.loop.ask(judged)
            except NotStored:
                parts.loop.put(judged)  # what ran below it was collected, and is not collected again
                raise
    mine = [world.sessions[id] for id in ids if id in world.sessions]
    having = [each for each in mine if each.is_open and each.liveness is not Liveness.LOST]
    return having[-1] if having else None


def _why_not(session: Session) -> str:
    if session.agent not in AGENTS:
        return f"headcount does not know the command of {session.agent}"
    if session.conversation is None:
        return "its conversation is not known"
    if not is_ours(session.cwd or "/"):
        return f"it ran in another mount namespace, in {session.cwd}"
    return f"its conversation's id is not of {session.agent}'s form"
