"""What a reboot ended, until a person was shown it.

Rules of this file
  1. Asking changes nothing; that it was shown is said by a route of its own, and only a person says it: an agent's
     look must not take the news from whoever it is for.
"""

from headcount.core.values.evidence import Told
from headcount.daemon.api.route import Call
from headcount.daemon.views.session_row import ended_untold, session_row
from headcount.wire.closer import Rebooted


async def show_reboot(call: Call) -> Rebooted:
    world = call.service.loop.world
    return Rebooted(sessions=[session_row(each, world) for each in ended_untold(world)])


async def told_reboot(call: Call) -> Rebooted:
    answer = await show_reboot(call)
    await call.service.loop.ask(Told(call.service.clock.now()))
    return answer
