"""Moments on the wire: a time as text, in UTC with milliseconds; in a sentence for people, the clock on their wall."""

import time
from datetime import UTC, datetime
from functools import lru_cache

TEXTS_KEPT = 4096  # moments whose text is remembered


def time_text(at: float) -> str:
    """Four a row, and a row for every event: the part down to the second is made once."""
    milliseconds = int(at * 1000)
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


def clock_text(at: float) -> str:
    """`03:36`, with the date when it is not today."""
    then, today = time.localtime(at), time.localtime()
    is_today = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", then)


@lru_cache(maxsize=TEXTS_KEPT)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
