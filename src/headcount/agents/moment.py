"""A moment as agents write it: an ISO time with its zone.

Not here: milliseconds since the epoch, which two of them write elsewhere (opencode/database.py, registry.py).
"""

from datetime import datetime

LONGEST = 40


def moment_of(value: object) -> float | None:
    """None: no such text, or a time without its zone, which is no moment."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None
