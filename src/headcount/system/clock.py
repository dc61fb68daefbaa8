"""Clocks, as an object that is passed in.

Rules
  1. `now` is the wall clock: for people, files and stored times. It may jump.
  2. `boottime` only grows and counts suspended time: for measuring how long something took.

Not here: constants of time (times.py), waiting.
"""

import time
from typing import Protocol

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""CLOCK_BOOTTIME exists only on Linux; elsewhere the monotonic clock is the closest one that never jumps."""


class Clock(Protocol):
    def now(self) -> float: ...

    def boottime(self) -> float: ...


class SystemClock:
    def now(self) -> float:
        return time.time()

    def boottime(self) -> float:
        return time.clock_gettime(_STEADY)
