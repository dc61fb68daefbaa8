"""Routes about the daemon itself: health, status, metrics, a test of the notification channels, and its stop.

Rules
  1. A metric is an integer that is counted where the thing happens. This module only collects.
  2. The Prometheus client library is imported when somebody asks: it costs more than the daemon's whole start.

Not here: collecting the status (daemon/api/status.py), sending notices (daemon/observers/notifications.py).
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headcount import __version__
from headcount.daemon.api.route import Call
from headcount.daemon.api.status import settings_drift
from headcount.daemon.api.status import status as daemon_status
from headcount.daemon.http.answer import HttpAnswer, json_answer
from headcount.daemon.views.session_row import LIVENESS_WORDS
from headcount.wire.daemon import ChannelOutcome, Health, NotifyTest, Status

if TYPE_CHECKING:
    from headcount.daemon.components import Components

COUNTERS = {
    "late_reports": "Reports that came after what they tell of was over; harmless.",
    "unproven_refused": "Reports of new sessions without a process that were not taken: too many are open.",
    "unproven_forgotten": "Lost sessions without a process that ended to make room for newer ones.",
    "misfit_reports": "Reports that fitted no session.",
    "repeated_reports": "Reports that changed nothing.",
    "stale_records": "Registry files that no living process confirms.",
    "pid_reuse_caught": "Processes found to have another's pid.",
    "failed_commits": "Batches that could not be stored and were told to nobody.",
    "observer_faults": "Times that an observer of events failed; see the log.",
    "bugs": "Evidence that could not be weighed; see the log.",
    "weak_identity_refused": "Identities by terminal, port or directory that were refused.",
    "census_caught": "Sessions that the event path had missed.",
    "adapter_faults": "Times that an agent's adapter failed or did not answer in time.",
    "hosted_ambiguously": "Processes that seemed to have two conversations open where one is possible.",
    "descendant_looks": "Looks at what runs below a living agent.",
    "leftover_searches": "Searches for what the dead left.",
    "signals_sent": "Signals sent because a person asked for it.",
    "signals_refused": "Signals that were asked for and not sent.",
    "claims_granted": "Claims given to a holder.",
    "claims_granted_after_waiting": "Of those, to somebody who had waited in line.",
    "claims_released": "Claims that ended: given back, freed by a death, forced, handed off.",
    "claims_held": "Questions answered with who holds it.",
    "claims_refused": "Questions refused: unverified, over, or not now.",
    "edits_guarded": "Edits that the guard denied, since another live session holds the path.",
    "grants_undone": "Grants whose holder died before it could be told.",
}

INHERITANCE_RUNGS = ("token", "environment", "register")
"""The token of a dead or foreign session, the marks of one, its conversation registered by another process."""


async def health(call: Call) -> Health:
    """Answered by the loop itself: a daemon that is deaf does not answer."""
    return Health(ok=call.parts.loop.fault is None, version=__version__, pid=os.getpid())


async def status(call: Call) -> Status:
    if call.flag("settled"):
        await call.parts.census.be_fresh()
    return daemon_status(call.parts)


async def metrics(call: Call) -> object:
    return HttpAnswer(200, exposition(call.parts), "text/plain; version=0.0.4; charset=utf-8")


async def stop(call: Call) -> object:
    call.parts.ask_to_stop()
    return json_answer({"stopping": True, "pid": os.getpid()}, 202)


async def try_channels(call: Call) -> NotifyTest:
    found = await call.parts.notifier.test()
    return NotifyTest(
        channels=[ChannelOutcome(channel=name, ok=why is None, because=why) for name, why in found],
        config=call.parts.places.config,
        drift=settings_drift(call.parts),
    )


def exposition(parts: "Components") -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(parts))
    return generate_latest(registry)


class _Collector:
    def __init__(self, parts: "Components") -> None:
        self._parts = parts

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        parts = self._parts
        sessions = GaugeMetricFamily("headcount_sessions", "Sessions by liveness.", labels=["liveness"])
        words = Counter(LIVENESS_WORDS[each.liveness] for each in parts.loop.world.sessions.values())
        for word, count in words.items():
            sessions.add_metric([word], count)
        yield sessions
        yield GaugeMetricFamily("headcount_watched", "Processes watched.", value=parts.processes.watched())
        yield GaugeMetricFamily("headcount_polled", "Of those, polled.", value=parts.processes.polled())
        book = parts.loop.world.book
        yield GaugeMetricFamily("headcount_claims", "Claims held.", value=sum(1 for _ in book.holding()))
        yield GaugeMetricFamily("headcount_claims_waiting", "Who wait.", value=len(book.asked))
        yield GaugeMetricFamily("headcount_streams", "Open event streams.", value=len(parts.broadcast))
        yield GaugeMetricFamily("headcount_journal_seq", "Newest event.", value=parts.loop.world.seq)
        yield GaugeMetricFamily("headcount_store_bytes", "Size of the store.", value=parts.store.size())
        for name, text in COUNTERS.items():
            yield CounterMetricFamily(f"headcount_{name}", text, value=parts.loop.counts[name])
        yield self._inheritance()
        mailbox = CounterMetricFamily(
            "headcount_mailbox", "Mailbox files by what became of them.", labels=["what"]
        )
        for what, count in parts.mailboxes.counts().items():
            mailbox.add_metric([what], count)
        yield mailbox
        lagged = parts.broadcast.lagged
        yield CounterMetricFamily("headcount_streams_dropped", "Times a reader fell behind.", value=lagged)
        for name, text, histogram in (
            ("headcount_death_seconds", "From the kernel's event to the commit.", parts.latencies.deaths),
            (
                "headcount_report_seconds",
                "From the report's own time to the commit.",
                parts.latencies.reports,
            ),
        ):
            rows = histogram.cumulative()
            yield HistogramMetricFamily(name, text, buckets=rows, sum_value=histogram.total)

    def _inheritance(self) -> Any:
        """By the rung that was tried: what others never measured."""
        from prometheus_client.core import CounterMetricFamily

        text = "Attempts to act under a dead or foreign session, by what was offered."
        family = CounterMetricFamily("headcount_inheritance_refused", text, labels=["rung"])
        counts = self._parts.loop.counts
        for rung in INHERITANCE_RUNGS:
            family.add_metric([rung], counts[f"inheritance_refused:{rung}"])
        family.add_metric(["claim"], counts["inheritance_refused"])
        return family
