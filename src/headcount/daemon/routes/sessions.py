"""Routes about sessions: the list, one session, its explanation, who the caller is, and what a reboot ended.

Rules
  1. The identity of the caller comes from the kernel. Nothing that the request says about itself counts.
  2. With `explain` every caller gets the evidence that was tried. Without it, a caller that is no agent gets a
     refusal with the next step.
  3. Asking what a reboot ended changes nothing. A separate route says that it was shown, and only a person may
     call it: an agent's question must not hide the news from its user.

Not here: identifying the caller (daemon/identity/caller.py), building the messages
  (daemon/views/session_row.py, daemon/views/explain.py).
"""

from headcount.core.values.evidence import Told
from headcount.daemon.api.permissions import nobody
from headcount.daemon.api.route import Call
from headcount.daemon.components import sessions_shown
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.actor import Actor, ActorKind
from headcount.daemon.identity.caller_ancestry import host_of
from headcount.daemon.views.explain import explain
from headcount.daemon.views.session_row import ended_untold, session_detail, session_row
from headcount.wire.sessions import Explanation, Me, Rebooted, Rung, SessionDetail, Sessions


async def list_sessions(call: Call) -> Sessions:
    await call.parts.census.be_fresh()
    shown = sessions_shown(call.parts, ended=call.flag("all"))
    world = call.parts.loop.world
    return Sessions(
        sessions=[session_row(session, world) for session in shown], rebooted=len(ended_untold(world))
    )


async def show_session(call: Call) -> SessionDetail:
    return session_detail(call.session(), call.parts.loop.world)


async def explain_session(call: Call) -> Explanation:
    session = call.session()
    parts = call.parts
    verdict = None
    if session.is_open and session.process is not None:
        machine = parts.loop.world.machine_of(session.process.boot)
        verdict = parts.processes.prove(session.process, machine)
    untold_at = parts.untold.get((session.agent, session.conversation or ""))
    return explain(session, parts.loop.world, parts.clock.now(), verdict, untold_at)


async def who_am_i(call: Call) -> Me:
    call.refuse_weak()
    actor = await call.who()
    explain = call.flag("explain")
    if not explain and actor.kind is ActorKind.NOBODY:
        raise nobody(actor)
    if not explain and actor.session is None:
        raise HttpRefusal(
            404,
            "not-an-agent",
            "You are inside no agent that headcount knows.",
            "To act for one: --as SESSION. To work under a claim yourself: headcount hold ITEM -- CMD",
        )
    return _me(call, actor, explain)


def _me(call: Call, actor: Actor, explain: bool) -> Me:
    world = call.parts.loop.world
    session = world.sessions.get(actor.session) if actor.session else None
    above = [str(host.id) for process in actor.above if (host := host_of(world, process))]
    rungs = [
        Rung(rung=each.name, taken=each.taken, why=each.why, session=each.session) for each in actor.rungs
    ]
    return Me(
        kind=actor.kind.value,
        session=actor.session,
        agent=session.agent if session else None,
        conversation=session.conversation if session else None,
        pid=actor.process.pid if actor.process else None,
        resolved_by=actor.resolved_by,
        name=session.name if session else None,
        role=session.role if session else None,
        groups=list(session.groups) if session else [],
        above=above,
        rungs=rungs if explain else [],
        refusal=actor.refusal,
        way_out=actor.way_out,
    )


async def show_reboot(call: Call) -> Rebooted:
    world = call.parts.loop.world
    return Rebooted(sessions=[session_row(each, world) for each in ended_untold(world)])


async def told_reboot(call: Call) -> Rebooted:
    answer = await show_reboot(call)
    await call.parts.loop.ask(Told(call.parts.clock.now()))
    return answer
