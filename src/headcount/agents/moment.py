"""A moment as agents write it: an ISO time with its zone.

Not here: milliseconds since the epoch, which two of them write elsewhere (opencode/database.py, registry.py).
"""

from datetime import datetime

LONGEST = 40


def moment_of(value: object) -> float | None:
    """None: no such text, a time before there were clocks, or one without its zone, which is no moment."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    at = found.timestamp() if found.tzinfo is not None else 0.0
    return at if at > 0 else None
