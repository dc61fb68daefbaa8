"""Listening: a thread that follows the event stream and calls back.

Rules of this file
  1. When it was made, it listens: nothing that happens afterwards is missed, also across a restart of the
     daemon.
  2. A callback that raises is logged and not called again; whoever else listens is not hurt.
  3. `close` ends it at once, also while it waits.

Not here: which events are wanted (sync.py), resuming (event_stream.py).
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from headcount import times
from headcount.client.daemon_access import Client
from headcount.client.event_stream import follow
from headcount.client.faults import Unavailable

log = logging.getLogger("headcount.client")

Heard = Callable[[dict[str, Any]], object]


class Listening:
    def __init__(self, client: Client, heard: Heard) -> None:
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
