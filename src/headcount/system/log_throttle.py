"""Log a repeating condition once, when it starts.

Rules
  1. Repeated occurrences are one condition. It ends when it has not occurred for a while.

Not here: the log line.
"""

from collections.abc import Callable


class Seldom:
    def __init__(self, clock: Callable[[], float], apart: float) -> None:
        self._clock = clock
        self._apart = apart
        self._last: float | None = None

    def is_new(self) -> bool:
        """Whether to log this occurrence; call it on every occurrence."""
        before, self._last = self._last, self._clock()
        return before is None or self._last - before >= self._apart
