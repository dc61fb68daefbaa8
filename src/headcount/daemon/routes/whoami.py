"""Who am I: the session of the caller, and how that was established.

Rules of this file
  1. The answer is the actor's, which the kernel's word made; nothing that the request says of itself counts.
  2. With `explain` every caller gets its rungs; without, whoever is no agent gets a refusal with the next step.

Not here: climbing the rungs (actor.py).
"""

from headcount.daemon.api.permissions import nobody
from headcount.daemon.api.route import Call
from headcount.daemon.http.request_checks import Refused
from headcount.daemon.identity.caller import Actor, Kind
from headcount.daemon.identity.caller_ancestry import host_of
from headcount.wire.whoami import Me, Rung


async def who_am_i(call: Call) -> Me:
    call.refuse_weak()
    actor = await call.who()
    explain = call.flag("explain")
    if not explain and actor.kind is Kind.NOBODY:
        raise nobody(actor)
    if not explain and actor.session is None:
        raise Refused(
            404,
            "not-an-agent",
            "You are inside no agent that headcount knows.",
            "To act for one: --as SESSION. To work under a claim yourself: headcount hold ITEM -- CMD",
        )
    return _me(call, actor, explain)


def _me(call: Call, actor: Actor, explain: bool) -> Me:
    world = call.service.loop.world
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
