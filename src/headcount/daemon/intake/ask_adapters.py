"""Ask the agents' adapters, each with a deadline, and remember which of them fail.

Rules
  1. An adapter that fails or hangs answers nothing. The others' answers count, and nobody waits for it.
  2. While an adapter hangs it is not asked again: it keeps at most one thread stuck.
  3. `faults` says what is wrong with an adapter now, for `doctor`. A good answer clears it.

Not here: the threads (bounded_thread.py), what is asked (daemon/intake/census.py,
  daemon/intake/open_conversations.py).
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from headcount.bounded_thread import BoundedThreads, Late
from headcount.times import ADAPTER_WITHIN

T = TypeVar("T")

log = logging.getLogger("headcount.adapters")


class Adapters:
    def __init__(self, counts: Counter[str]) -> None:
        self.faults: dict[str, str] = {}
        self._counts = counts
        self._threads: dict[str, BoundedThreads] = {}

    async def ask(self, agent: str, work: Callable[[], T]) -> T | None:
        """What the adapter answers; None: nothing."""
        threads = self._threads.setdefault(agent, BoundedThreads(f"adapter-{agent}", most=1))
        try:
            answer = await threads.ask(work, ADAPTER_WITHIN)
        except Late as late:
            self._blame(agent, str(late))
            return None
        except Exception as error:
            if agent not in self.faults:
                log.exception("the adapter of %s failed", agent)
            self._blame(agent, f"failed: {type(error).__name__}")
            return None
        self.faults.pop(agent, None)
        return answer

    def _blame(self, agent: str, why: str) -> None:
        self.faults[agent] = why
        self._counts["adapter_faults"] += 1
