"""Waiting until a daemon is gone: its process, not only its socket.

Rules of this file
  1. A daemon that no longer listens may still hold the lock and be putting its files away. Where the kernel
     gives a handle, its exit is what is waited for.
  2. The handle is opened before the stop is asked for, while the daemon answers: it is that very process.

Not here: asking it to stop (daemon_access.py).
"""

import os
import select
import time
from types import TracebackType

from headcount import times
from headcount.client.faults import Broken, NotRunning, Unavailable
from headcount.client.transport.connection import Connection


class Departure:
    def __init__(self, pid: object, socket: str) -> None:
        self._socket = socket
        self._handle: int | None = None
        if isinstance(pid, int) and hasattr(os, "pidfd_open"):
            try:
                self._handle = os.pidfd_open(pid)
            except OSError:  # another pid namespace, no descriptor, an old kernel
                self._handle = None

    def __enter__(self) -> "Departure":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def wait(self) -> None:
        """Until it is gone; `Unavailable` when it is not within STOP_WITHIN."""
        gone = self._exited() if self._handle is not None else self._silent()
        if not gone:
            raise Unavailable(
                f"The daemon was asked to stop and is still there after {times.STOP_WITHIN:.0f} s.",
                "See: headcount doctor",
            )

    def _exited(self) -> bool:
        assert self._handle is not None
        readable, _, _ = select.select([self._handle], [], [], times.STOP_WITHIN)
        return bool(readable)

    def _silent(self) -> bool:
        deadline = time.monotonic() + times.STOP_WITHIN
        probe = Connection(self._socket)
        while time.monotonic() < deadline:
            try:
                probe.call("GET", "/healthz")
            except NotRunning:
                return True
            except Broken:
                pass
            finally:
                probe.close()
            time.sleep(times.CONNECT_RETRY_EVERY)
        return False
