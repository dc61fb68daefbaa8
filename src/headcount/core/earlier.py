"""Earlier and later: whether a stored time may still say that a word comes late.

Rules of this file
  1. Nothing was heard in the future. A stored time that lies there was written before the wall clock was set
     back, and orders nothing any more: else a session would stay silent until the clock has caught up.
  2. The word's own time was taken before it is weighed, so "now" itself would call every word late.
"""

from headcount.times import CLOCK_SLACK


def counted(stored: float, now: float) -> float:
    """The stored time where it still orders; before everything where the clock was set back since."""
    return stored if stored <= now + CLOCK_SLACK else 0.0
