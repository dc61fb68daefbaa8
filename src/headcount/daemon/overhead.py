"""Overhead: which agent a walk up from a process ends at, remembered for a moment.

Rules of this file
  1. A thousand agents below one shell share their ancestors; the walk above each is made once, not
     a thousand times.
  2. It holds for a moment only: ancestors end, and shells become agents by exec.
  3. Asked from the loop and from the census' thread: single operations on a dict, nothing more.

Not here: the walk (daemon/identity/anchor.py, system/processes/ancestry.py).
"""

from collections.abc import Iterable

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.system.clock import Clock
from headcount.times import UNANCHORED_FRESH

MOST = 4096


class Ending(Struct, frozen=True):
    """Where the walk ended: at an agent, or at nobody."""

    agent: ProcessIdentity | None
    at: float


class Overhead:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._endings: dict[ProcessIdentity, Ending] = {}

    def find(self, process: ProcessIdentity) -> Ending | None:
        """Of a walk that comes by that process; None: walk."""
        ending = self._endings.get(process)
        if ending is None or self._clock.boottime() - ending.at >= UNANCHORED_FRESH:
            return None
        return ending

    def keep(self, passed: Iterable[ProcessIdentity], agent: ProcessIdentity | None) -> None:
        if len(self._endings) >= MOST:
            self._endings.clear()
        ending = Ending(agent, self._clock.boottime())
        for process in passed:
            self._endings[process] = ending
