"""Our lease: until when this host may vouch for its shared claims, by its own clock.

Rules of this file
  1. The deadline is counted from before the renewal was sent, on a clock that also counts suspended time. The
     database counts from when it got it: ours is always the earlier end.
  2. After the deadline nothing is vouched for, whatever we remember. Others wait a lock-delay longer.

Not here: the row in the database (store/postgres/ledger.py), when to renew (while_joined.py).
"""

from headcount.store.shared_interface import SharedUnavailable
from headcount.system.clock import Clock


class Lease:
    def __init__(self, clock: Clock, ttl: float) -> None:
        self._clock = clock
        self._ttl = ttl
        self._deadline: float | None = None
        self.fault = "the shared database was not reached yet"  # why it is not renewed

    def sending(self) -> float:
        """To be asked before a renewal is sent, and given to `renewed` once it was answered."""
        return self._clock.boottime()

    def renewed(self, sent: float) -> None:
        self._deadline = sent + self._ttl
        self.fault = ""

    def given_up(self) -> None:
        self._deadline = None

    @property
    def holds(self) -> bool:
        return self._deadline is not None and self._clock.boottime() < self._deadline

    def need(self) -> None:
        """Raises what the caller hears, when this host cannot vouch."""
        if not self.holds:
            raise SharedUnavailable(
                f"shared claims cannot be vouched for now: {self.fault or 'the lease ran out'}. "
                "path:, port: and local: claims go on"
            )
