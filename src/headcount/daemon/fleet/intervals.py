"""The pace of a fleet: its times, all shortened by one factor in tests.

Rules
  1. Every host of a fleet has the same pace, or nobody could rely on another's lock-delay.
"""

from msgspec import Struct

from headcount import times


class Intervals(Struct, frozen=True):
    factor: float = 1.0

    @property
    def ttl(self) -> float:
        return times.FLEET_TTL * self.factor

    @property
    def renew_every(self) -> float:
        return times.FLEET_RENEW_EVERY * self.factor

    @property
    def lock_delay(self) -> float:
        return times.FLEET_LOCK_DELAY * self.factor

    @property
    def call_within(self) -> float:
        """Never shortened: a busy machine needs it."""
        return times.FLEET_CALL_WITHIN

    @property
    def reread_every(self) -> float:
        return times.FLEET_REREAD_EVERY * self.factor

    @property
    def retry_first(self) -> float:
        return times.FLEET_RETRY_FIRST * self.factor

    @property
    def retry_most(self) -> float:
        return times.FLEET_RETRY_MOST * self.factor
