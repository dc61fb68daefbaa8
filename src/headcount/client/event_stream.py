"""Follow the event stream across restarts of the daemon, as an iterator or in a thread with a callback.

Rules
  1. Events are given once and in order. After a break the stream resumes from the last number seen.
  2. A watcher does not restart a daemon that was stopped: it gets a fault, or with `stay` it is told and waits
     until the daemon is back. With `stay` a daemon that was killed is started again, since nobody wanted it to
     end.
  3. Once `Listening` has been constructed, it misses no later event, also across a restart of the daemon.
  4. A callback that raises is logged and not called again. Other listeners are not affected.
  5. `close` ends it at once, also while it waits.

Not here: the connection (client/transport/connection.py), which events are wanted (client/sync.py), showing
  an event (present/event_lines.py).
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headcount import times
from headcount.client.daemon_access import DaemonAccess
from headcount.client.faults import Broken, NotRunning, Unavailable
from headcount.client.transport.connection import StreamListener

if TYPE_CHECKING:
    from headcount.wire.views import StreamEvent

STOPPED = "The headcount daemon has stopped; nothing is seen any more."
WAITING = "The headcount daemon has stopped; waiting for its return. Start it: headcount up"
KILLED = "The headcount daemon is gone without a farewell; starting it again."
BACK = "The headcount daemon is back."

log = logging.getLogger("headcount.client")

Heard = Callable[["StreamEvent"], object]


def follow(
    client: DaemonAccess,
    since: int | None = None,
    until: float | None = None,
    stay: Callable[[str], None] | None = None,
    listener: StreamListener | None = None,
) -> "Iterator[StreamEvent]":
    """Snapshots (`type` is "snapshot") and events, as the wire has them, for ever or until `TimedOut`. `stay`: with
    whom to leave word when the daemon goes and comes back; without it its going is a fault. `listener`: a screen, told
    of every sign of life and of every break, a short one too."""
    last = since
    absence = Absence(client, stay)
    while True:
        try:
            for nth, event in enumerate(client.events(last, until, listener)):
                absence.end()
                if event.type == "dropped" or (event.type == "snapshot" and nth):
                    break  # we fell behind: the journal has every event since the last one
                data = json.loads(event.data)
                if event.type == "snapshot":
                    data = {"type": "snapshot", **data}
                last = int(data["seq"])
                yield data
        except (Broken, NotRunning) as fault:
            if client.hung_up:
                return
            if listener is not None:
                listener.broke()
            absence.go_on(fault)


class Absence:
    """A daemon that does not answer: first it may be restarting, then it is gone."""

    def __init__(self, client: DaemonAccess, stay: Callable[[str], None] | None) -> None:
        self._client = client
        self._stay = stay
        self._since: float | None = None
        self._told = False
        self._restarted = False

    def end(self) -> None:
        if self._told and self._stay is not None:
            self._stay(BACK)
        self._since, self._told, self._restarted = None, False, False

    def go_on(self, fault: Unavailable) -> None:
        """Waits a little; raises when nothing more is to be waited for."""
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since <= times.START_AGAIN_AFTER:
            time.sleep(times.CONNECT_RETRY_EVERY)
        elif self._stay is None or self._restarted:  # we started one, and it is gone again
            raise _stopped(fault) from None
        else:
            self._wait(self._stay)

    def _wait(self, say: Callable[[str], None]) -> None:
        if not self._told:
            self._told = True
            killed = os.path.exists(self._client.places.socket)  # noqa: PTH110  an orderly stop takes it away
            say(KILLED if killed else WAITING)
            if killed:
                self._client.start()
                self._since, self._restarted = None, True
                return
        time.sleep(times.HOLD_LOOKS_AGAIN)


def _stopped(fault: Unavailable) -> Unavailable:
    return Unavailable(STOPPED, "Start it: headcount up") if isinstance(fault, NotRunning) else fault


class Listening:
    def __init__(self, client: DaemonAccess, heard: Heard) -> None:
        self._client = client
        self._heard = heard
        self._last: int | None = None
        self._fault: Exception | None = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headcount-listening", daemon=True)
        self._thread.start()
        if not self._begun.wait(times.READY_WITHIN + times.CALL_WITHIN):
            self._fault = Unavailable("The event stream did not begin.", "See: headcount doctor")
        if self._fault is not None:
            self.close()
            raise self._fault

    @property
    def is_open(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        self._client.hang_up()
        if self._thread is not threading.current_thread():
            self._thread.join(times.CALL_WITHIN)
        self._client.close()

    def __enter__(self) -> "Listening":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._client.hung_up:
            try:
                self._follow()
            except Unavailable as fault:
                if not self._begun.is_set():
                    self._fault = fault
                    break
                time.sleep(times.HOLD_LOOKS_AGAIN)  # the daemon is away; go on where it was left
            except Exception:
                log.exception("a callback failed and is not called again")
                break
        self._begun.set()

    def _follow(self) -> None:
        for data in follow(self._client, self._last):
            self._last = int(data["seq"])
            self._begun.set()
            if self._client.hung_up:
                return
            self._heard(data)
