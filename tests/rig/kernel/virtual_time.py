"""Time that passes as fast as work allows: an event loop that jumps to its next deadline, and the clock that goes with it.

Rules of this file
  1. The loop jumps only when nothing is ready and no thread works for it: a thread takes real time.
  2. Wall, steady and the loop's own clock part as they do on a machine: a clock that is set, a lid that is closed.

Not here: processes (fake_kernel.py).
"""

import asyncio
import selectors
import threading
from typing import Any

THREADS = ("look", "adapter-")  # those that the daemon starts by hand
REAL_WAIT = 0.05


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.outside = 0  # questions to threads that are not answered yet
        self._virtual = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self._virtual

    def skip(self, seconds: float) -> None:
        """So long nothing ran: a machine that is stuck, or a process that was stopped."""
        self._virtual += seconds

    def run_in_executor(self, *given: Any) -> Any:
        future = super().run_in_executor(*given)
        self.outside += 1
        future.add_done_callback(self._back)
        return future

    def _back(self, _: object) -> None:
        self.outside -= 1

    def is_waited_for(self) -> bool:
        return self.outside > 0 or any(each.name.startswith(THREADS) for each in threading.enumerate())


class _Jumping(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if self._loop.is_waited_for() or timeout is None:
            return super().select(REAL_WAIT)
        ready = super().select(0)
        if not ready:
            self._loop.skip(timeout)
        return ready


class VirtualClock:
    def __init__(self, loop: VirtualLoop, wall: float, up: float) -> None:
        self._loop = loop
        self._wall = wall
        self._up = up
        self.set_by = 0.0  # how far somebody has set the wall clock
        self.slept = 0.0  # how long the machine was suspended: the loop's own clock stood still

    def now(self) -> float:
        return self._wall + self._loop.time() + self.slept + self.set_by

    def boottime(self) -> float:
        return self._up + self._loop.time() + self.slept
