"""Exit codes of the command line, and the stable codes of refusals and faults.

Rules
  1. A code is given once and never changes its meaning.
  2. Imports nothing: the command line's hot path reads it.
"""

from typing import Final

DONE: Final = 0
FAULT: Final = 1
USAGE: Final = 2
REFUSED: Final = 3  # held by another, not allowed, stale
UNAVAILABLE: Final = 4  # the daemon or the database cannot be reached
NOT_FOUND: Final = 5

EXIT_BY_STATUS: Final[dict[int, int]] = {
    400: USAGE, 401: REFUSED, 403: REFUSED, 404: NOT_FOUND, 405: FAULT, 409: REFUSED, 410: NOT_FOUND,
    413: USAGE, 415: USAGE, 421: REFUSED, 422: USAGE, 503: UNAVAILABLE, 504: UNAVAILABLE,
}  # fmt: skip
