"""Calm: whoever looks further after deaths waits until no more of them come in.

Rules of this file
  1. A storm of deaths is told first. What they left can wait a moment; it is never waited for long.
"""

import asyncio
from collections.abc import Callable

from headcount.times import CALM_AFTER, CALM_ROUNDS


async def calm(count: Callable[[], int]) -> None:
    """Returns once the count has stood still for a moment, or has not for too long."""
    for _ in range(CALM_ROUNDS):
        before = count()
        await asyncio.sleep(CALM_AFTER)
        if count() <= before:
            return
