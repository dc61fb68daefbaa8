"""Following the event stream across a restart of the daemon.

Rules of this file
  1. Events are given once, in order; after a break the stream is resumed by the last number seen.
  2. A daemon that was stopped is not started again by somebody who only watches: he is told.

Not here: the stream itself (connection.py), what is made of an event (the faces, listening.py).
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from headcount import times
from headcount.client.faults import Broken, NotRunning, Unavailable
from headcount.client.reach import Client


def follow(client: Client, since: int | None = None, until: float | None = None) -> Iterator[dict[str, Any]]:
    """Snapshots (`type` is "snapshot") and events, as the wire has them, for ever or until `TimedOut`."""
    last = since
    away_since: float | None = None
    while True:
        try:
            for event in client.events(last, until):
                away_since = None
                if event.type == "dropped":
                    continue  # we lagged: the stream ends here and is resumed like any other that broke
                data = json.loads(event.data)
                if event.type == "snapshot":
                    data = {"type": "snapshot", **data}
                last = int(data["seq"])
                yield data
        except (Broken, NotRunning) as fault:
            if client.hung_up:
                return
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > times.START_AGAIN_AFTER:
                raise _stopped(fault) from None
            time.sleep(times.CONNECT_RETRY_EVERY)


def _stopped(fault: Unavailable) -> Unavailable:
    if isinstance(fault, NotRunning):
        return Unavailable(
            "The headcount daemon has stopped; nothing is seen any more.", "Start it: headcount up"
        )
    return fault
