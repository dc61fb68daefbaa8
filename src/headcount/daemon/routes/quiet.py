"""Declaring silence: a session says that it will not be heard of for a while, and why.

Rules of this file
  1. An agent speaks for itself, the operator for any.
  2. Capped: whoever asks for more gets the most there is, and the answer says until when.

Not here: what silence changes (core/sessions/stalls.py).
"""

import math

from headcount.core.values.evidence import Declared
from headcount.core.values.session import Session
from headcount.daemon.api.route import Call
from headcount.daemon.api.session_selector import ended_words
from headcount.daemon.http.request_checks import Refused
from headcount.daemon.views.session_row import session_row, time_text
from headcount.times import QUIET_MOST
from headcount.wire.sessions import QuietAnswer, QuietWish

WHY_MOST = 200


async def declare_quiet(call: Call) -> QuietAnswer:
    session = call.session()
    _check_is_own(call, session)
    wish = call.body(QuietWish)
    if not wish.off and not (math.isfinite(wish.seconds) and wish.seconds > 0):
        raise Refused(400, "bad-duration", "How long must be above zero.", "Say so: headcount quiet 20m")
    now = call.service.clock.now()
    until = None if wish.off else now + min(wish.seconds, QUIET_MOST)
    by = call.actor.session or "operator"
    declared = Declared(session.id, now, until, (wish.why or "")[:WHY_MOST], by)
    if await call.service.loop.ask(declared) is None:
        raise Refused(409, "ended", f"{session.id[:4]} has ended.", f"See: headcount show {session.id[:4]}")
    world = call.service.loop.world
    return QuietAnswer(
        session=session_row(world.sessions[session.id], world),
        until=None if until is None else time_text(until),
        capped=not wish.off and wish.seconds > QUIET_MOST,
    )


def _check_is_own(call: Call, session: Session) -> None:
    if call.actor.is_agent and call.actor.session != session.id:
        raise Refused(
            403, "not-yours", f"{session.id[:4]} is not yours: an agent declares only its own silence."
        )
    if not session.is_open:
        raise Refused(
            409, "ended", f"{session.id[:4]} {ended_words(session)}.", f"See: headcount show {session.id[:4]}"
        )
