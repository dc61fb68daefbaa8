"""How long deaths and reports take from their own time to the commit, as histograms.

Not here: how they are exported (daemon/routes/daemon.py).
"""

from collections.abc import Sequence

from msgspec import Struct, field

from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType
from headcount.system.clock import Clock

LATENCY_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Histogram(Struct):
    buckets: list[int] = field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        self.total += seconds
        for nth, bound in enumerate(LATENCY_BOUNDS):
            if seconds <= bound:
                self.buckets[nth] += 1
                return
        self.buckets[-1] += 1

    def cumulative(self) -> list[tuple[str, float]]:
        rows, sum = [], 0
        for bound, count in zip((*map(str, LATENCY_BOUNDS), "+Inf"), self.buckets, strict=True):
            sum += count
            rows.append((bound, float(sum)))
        return rows


class Latencies:
    wants = frozenset({EventType.SESSION_ENDED, EventType.SESSION_ACTIVITY, EventType.SESSION_HEARD})

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.deaths = Histogram()
        self.reports = Histogram()

    def noticed(self, events: Sequence[Event], world: World) -> None:
        now = self._clock.now()
        for event in events:
            kind = self.deaths if event.type is EventType.SESSION_ENDED else self.reports
            kind.observe(max(0.0, now - event.at))
