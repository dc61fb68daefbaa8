"""Effects: what a committed decision asks of the outside.

Rules of this file
  1. An effect's outcome returns as evidence, never as a direct change.
  2. One that fails is reported and given up; it hurts no other.
  3. What may take time is a task with a deadline. Watching, the only effect so far, takes microseconds and
     must not be overtaken by the next decision: it is done at once, in order.

Not here: which effects there are (core/values/events.py).
"""

import logging
from collections.abc import Callable, Sequence

from headcount.core.values.events import Effect, Watch
from headcount.core.values.evidence import Evidence, Judged
from headcount.core.values.leftover import Find
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes

log = logging.getLogger("headcount.effects")


class Effects:
    def __init__(
        self,
        processes: Processes,
        clock: Clock,
        put: Callable[[Evidence], None],
        on_end: Callable[[ProcessIdentity], None],
        left_by: Callable[[ProcessIdentity], tuple[Find, ...]] = lambda process: (),
    ) -> None:
        self._processes = processes
        self._clock = clock
        self._put = put
        self._on_end = on_end
        self._left_by = left_by

    def start(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            try:
                self._watch(effect)
            except Exception:
                log.exception("pid %d could not be watched; the census asks again", effect.process.pid)

    def _watch(self, effect: Watch) -> None:
        verdict = self._processes.watch(effect.process, self.died)
        if verdict.standing is Standing.DEAD:
            self.died(effect.process, verdict)
        elif verdict.standing is Standing.UNKNOWN:
            log.warning("pid %d cannot be watched now: %s", effect.process.pid, verdict.because)

    def died(self, process: ProcessIdentity, verdict: Verdict) -> None:
        """The kernel's word; called on the event loop, once for each process."""
        self._on_end(process)
        self._put(Judged(process, verdict, self._clock.now(), left=self._left_by(process)))
