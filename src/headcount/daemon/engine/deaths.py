"""Deaths: watch processes, and turn the end of one into evidence. The only place where that happens.

Rules
  1. A death is one step, whoever noticed it (the kernel, the census, a start): what was remembered about the process is
     forgotten, what ran below it is collected, and the verdict becomes evidence for the loop.
  2. Watching takes microseconds and must not be overtaken by the next decision, so it is done at once, in order.
  3. A process that cannot be watched is logged; the census asks about it again. It affects no other.

Not here: what a death changes (core/decide.py), which claims it frees (core/claims/ledger.py), the later search for
leftovers (daemon/leftovers/collect.py).
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

log = logging.getLogger("headcount.deaths")


class Deaths:
    def __init__(
        self,
        processes: Processes,
        clock: Clock,
        put: Callable[[Evidence], None],
        forget: Sequence[Callable[[ProcessIdentity], object]] = (),
        left_by: Callable[[ProcessIdentity], tuple[Find, ...]] = lambda process: (),
    ) -> None:
        self._processes = processes
        self._clock = clock
        self._put = put
        self._forget = forget
        self._left_by = left_by

    def start(self, effects: Sequence[Effect]) -> None:
        """Watch the processes that a committed decision asks for."""
        for effect in effects:
            try:
                self._watch(effect)
            except Exception:
                log.exception("pid %d could not be watched; the census asks again", effect.process.pid)

    def _watch(self, effect: Watch) -> None:
        verdict = self.watch(effect.process)
        if verdict.standing is Standing.DEAD:
            self.died(effect.process, verdict)
        elif verdict.standing is Standing.UNKNOWN:
            log.warning("pid %d cannot be watched now: %s", effect.process.pid, verdict.because)

    def watch(self, process: ProcessIdentity) -> Verdict:
        return self._processes.watch(process, self.died)

    def died(self, process: ProcessIdentity, verdict: Verdict) -> None:
        """The kernel reported it. Called on the event loop, once for each process."""
        self._put(self.judged(process, verdict))

    def judged(self, process: ProcessIdentity, verdict: Verdict, *, away: bool = False) -> Judged:
        """The evidence of a verdict. If it is a death, nothing that was remembered about the process stands."""
        if verdict.standing is not Standing.DEAD:
            return Judged(process, verdict, self._clock.now())
        for forget in self._forget:
            forget(process)
        return Judged(process, verdict, self._clock.now(), away=away, left=self._left_by(process))
