"""The number of files we may hold open: one for each watched process, and some kept free.

Rules of this file
  1. The soft limit is raised to the hard one: the low default is for programs that use select(2).
  2. The last part is never used for watching: a daemon that watches everything but cannot accept a
     connection or open its mailbox is deaf.

Not here: what happens to a process that found no descriptor (linux.py, polling.py).
"""

import resource

KEPT_FREE_MOST = 256
KEPT_FREE_SHARE = 4


def raise_nofile() -> int:
    """The limit that holds from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        return soft  # macOS refuses an unlimited number; what there was still holds
    return hard


def highest_for_watching(limit: int) -> int:
    """Descriptors are given lowest first: one above this number says that few are left."""
    return limit - min(KEPT_FREE_MOST, limit // KEPT_FREE_SHARE)
