"""Sessions on the wire: the list, one, and why we believe what we say of it."""

from headcount.daemon.explain import explain
from headcount.daemon.routes.route import Call
from headcount.daemon.service import sessions_shown
from headcount.daemon.view import session_row
from headcount.wire.messages import Explanation, SessionRow, Sessions


async def list_sessions(call: Call) -> Sessions:
    await call.service.census.be_fresh()
    shown = sessions_shown(call.service, ended=call.flag("all"))
    return Sessions(sessions=[session_row(session, call.service.loop.world) for session in shown])


async def show_session(call: Call) -> SessionRow:
    return session_row(call.session(), call.service.loop.world)


async def explain_session(call: Call) -> Explanation:
    session = call.session()
    service = call.service
    verdict = None
    if session.is_open and session.process is not None:
        machine = service.loop.world.machine_of(session.process.boot)
        verdict = service.processes.prove(session.process, machine)
    return explain(session, service.loop.world, service.clock.now(), verdict)
