"""Moments on the wire: a time as text, in UTC with milliseconds."""

from datetime import UTC, datetime
from functools import lru_cache

TEXTS_KEPT = 4096  # moments whose text is remembered


def time_text(at: float) -> str:
    """Four a row, and a row for every event: the part down to the second is made once."""
    milliseconds = int(at * 1000)
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03d}Z"


@lru_cache(maxsize=TEXTS_KEPT)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
