"""What goes on and on is said when it begins.

Rules of this file
  1. A thing that keeps happening is one; it is over when it has not happened for a while.

Not here: who says it, and how.
"""

from collections.abc import Callable


class Seldom:
    def __init__(self, clock: Callable[[], float], apart: float) -> None:
        self._clock = clock
        self._apart = apart
        self._last: float | None = None

    def is_new(self) -> bool:
        """To be asked each time that it happens."""
        before, self._last = self._last, self._clock()
        return before is None or self._last - before >= self._apart
