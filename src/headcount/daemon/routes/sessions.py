"""Sessions on the wire: the list, one, and why we believe what we say of it."""

from headcount.daemon.api.route import Call
from headcount.daemon.components import sessions_shown
from headcount.daemon.details import session_detail
from headcount.daemon.views.explain import explain
from headcount.daemon.views.session_row import ended_untold, session_row
from headcount.wire.closer import SessionDetail
from headcount.wire.sessions import Explanation, Sessions


async def list_sessions(call: Call) -> Sessions:
    await call.service.census.be_fresh()
    shown = sessions_shown(call.service, ended=call.flag("all"))
    world = call.service.loop.world
    return Sessions(
        sessions=[session_row(session, world) for session in shown], rebooted=len(ended_untold(world))
    )


async def show_session(call: Call) -> SessionDetail:
    return session_detail(call.session(), call.service.loop.world)


async def explain_session(call: Call) -> Explanation:
    session = call.session()
    service = call.service
    verdict = None
    if session.is_open and session.process is not None:
        machine = service.loop.world.machine_of(session.process.boot)
        verdict = service.processes.prove(session.process, machine)
    untold_at = service.untold.get((session.agent, session.conversation or ""))
    return explain(session, service.loop.world, service.clock.now(), verdict, untold_at)
