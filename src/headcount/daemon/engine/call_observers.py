"""Observers: who looks further because of committed events, each guarded from the others.

Rules
  1. An observer declares the types of events that it wants, and is called when a batch has some of them.
  2. One that raises is logged once per kind of fault, counted, and named by `status`. Nothing else suffers: the next
     observer is called, and the effects of the batch start.

Not here: who observes (daemon/composition.py), what each does with it.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType

log = logging.getLogger("headcount.observers")

EVERY = frozenset(EventType)
OF_SESSIONS = frozenset(each for each in EventType if each.value.startswith("session."))


class Observer(Protocol):
    @property
    def wants(self) -> frozenset[EventType]: ...

    def noticed(self, events: Sequence[Event], world: World) -> None: ...


class Part(Observer, Protocol):
    """An observer that runs with the daemon. The composition root starts it and closes it."""

    def start(self, world: World) -> None:
        """Look at what was remembered, before the first event."""
        return

    def close(self) -> None: ...


class Observers:
    def __init__(self, counts: Counter[str]) -> None:
        self._all: list[Observer] = []
        self.faults: Counter[tuple[str, str]] = Counter()  # observer, fault
        self._counts = counts

    def add(self, *observers: Observer) -> None:
        """They are called in the order in which they were added."""
        self._all += observers

    def tell(self, events: Sequence[Event], world: World) -> None:
        for each in self._all:
            wanted = [event for event in events if event.type in each.wants]
            if wanted:
                try:
                    each.noticed(wanted, world)
                except Exception as fault:
                    self._failed(type(each).__name__, fault)

    def _failed(self, observer: str, fault: Exception) -> None:
        self._counts["observer_faults"] += 1
        self.faults[observer, type(fault).__name__] += 1
        if self.faults[observer, type(fault).__name__] == 1:
            log.error("the observer %s failed; this is logged once", observer, exc_info=fault)

    def warnings(self) -> list[str]:
        return [
            f"{observer} failed {count} times ({fault}): what it adds may be missing until a restart"
            for (observer, fault), count in self.faults.items()
        ]
