"""The daemon about itself: health, status, metrics, and its orderly end."""

import os
from typing import Any

from headcount import __version__
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import Answer, json_answer
from headcount.daemon.metrics import exposition
from headcount.wire.daemon import Health, Status


async def health(call: Call) -> Health:
    """Answered by the loop itself: a daemon that is deaf does not answer."""
    return Health(ok=call.service.loop.fault is None, version=__version__, pid=os.getpid())


async def status(call: Call) -> Status:
    if call.flag("settled"):
        await call.service.census.be_fresh()
    return call.service.status()


async def metrics(call: Call) -> Any:
    return Answer(200, exposition(call.service), "text/plain; version=0.0.4; charset=utf-8")


async def stop(call: Call) -> Any:
    call.service.ask_to_stop()
    return json_answer({"stopping": True, "pid": os.getpid()}, 202)
