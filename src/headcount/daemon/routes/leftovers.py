"""Leftovers on the wire: what the dead left behind.

Rules
  1. Listing changes nothing and ends nothing.

Not here: looking for them (daemon/leftovers/search.py), ending them (stop_close_reap.py).
"""

import asyncio

from headcount.daemon.api.route import Call
from headcount.daemon.views.leftover_row import measured
from headcount.wire.leftovers import Leftovers


async def list_leftovers(call: Call) -> Leftovers:
    """Those that are there; with `all` also those that are gone. `session` and `kind` choose among them."""
    await call.parts.aftermath.be_fresh()
    remains, clock = call.parts.loop.world.remains, call.parts.clock
    chosen = list(remains.rows.values() if call.flag("all") else remains.there())
    if call.text("session"):
        wanted = call.select(call.text("session") or "").id
        chosen = [each for each in chosen if each.session == wanted]
    if call.text("kind"):
        chosen = [each for each in chosen if each.kind.value == call.text("kind")]
    chosen.sort(key=lambda each: (each.found_at, each.session or "", each.id))
    return Leftovers(leftovers=await asyncio.to_thread(measured, chosen, clock.boottime()))
