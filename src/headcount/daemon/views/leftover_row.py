"""Leftovers on the wire: the row of one, with its figures of now.

Rules
  1. What is stored does not age: running time, memory and ports are read when somebody asks, in a thread.
  2. One that cannot be measured is shown without figures.

Not here: sessions and events (session_row.py), what a leftover is (core/values/leftover.py).
"""

from collections.abc import Iterable

from headcount.core.values.leftover import Leftover
from headcount.daemon.views.timestamps import time_text
from headcount.system.processes.resource_usage import NOTHING, Footprint, listeners, measure
from headcount.wire.leftovers import LeftoverRow


def leftover_row(leftover: Leftover, footprint: Footprint = NOTHING) -> LeftoverRow:
    return LeftoverRow(
        id=leftover.id,
        kind=leftover.kind.value,
        session=leftover.session,
        pid=leftover.process.pid if leftover.process else None,
        what=leftover.what,
        evidence=list(leftover.evidence),
        found_at=time_text(leftover.found_at),
        gone_at=time_text(leftover.gone_at) if leftover.gone_at is not None else None,
        age_s=_rounded(footprint.age),
        cpu_s=_rounded(footprint.cpu),
        memory_bytes=footprint.memory,
        ports=list(footprint.ports),
        facts=leftover.facts,
    )


def measured(leftovers: Iterable[Leftover], uptime: float) -> list[LeftoverRow]:
    """For a thread: it reads a few files for each."""
    listed = list(leftovers)
    listening = listeners() if any(each.process for each in listed) else {}
    return [
        leftover_row(
            each, measure(each.process, uptime, listening) if each.process and each.is_there else NOTHING
        )
        for each in listed
    ]


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)
