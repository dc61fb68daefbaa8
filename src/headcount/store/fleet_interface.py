"""The interface of the shared ledger of a fleet, and the error that says it cannot answer.

Rules
  1. A call is one transaction: when it returns, what it says is committed for every host.
  2. No exception of a database driver leaves the store: it becomes `SharedUnavailable`, whose text names no
     secret. After one the outcome is not known: it may have been committed.
  3. Leases run on the database's clock. What we are told of another host is what that clock says.

Not here: PostgreSQL (postgres/), when a host renews its lease (daemon/fleet/).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from headcount.core.claims.shared_with_fleet import SharedCommand, SharedDecision, SharedItem
from headcount.core.values.claim import Answer, Claim, Freed
from headcount.core.values.item import Item

Decide = Callable[[SharedItem, float], SharedDecision]
"""The rules, to be called under the item's lock with what is known of it and the database's time."""


class SharedUnavailable(Exception):
    """The shared database cannot be asked now, or did not answer in time."""


class SharedNewerSchema(SharedUnavailable):
    """The database was made by a newer headcount. It was not touched."""


class Superseded(SharedUnavailable):
    """Another daemon has enrolled with this host's id since."""


class Forgotten(SharedUnavailable):
    """The host's row is gone: nobody else has its place, and enrolling again takes it."""


class Membership(Struct, frozen=True):
    """Who we are in the fleet. An epoch is one life of this daemon."""

    host: str
    name: str
    epoch: int = 0


class SharedClaim(Struct, frozen=True):
    claim: Claim
    host: str | None  # None: free
    host_name: str | None = None
    vouched: bool = True  # its host's lease holds
    age: float | None = None  # since its host was last heard of
    free_in: float | None = None  # until others may take it, if its host stays away
    told: str | None = None  # the holder's session as its host shows it, JSON


class Host(Struct, frozen=True):
    id: str
    name: str
    epoch: int
    version: str
    renewed_at: float
    age: float  # since it was last heard of, by the database's clock
    vouched: bool
    claims: int
    sessions: int


class RosterRow(Struct, frozen=True):
    host: str
    host_name: str
    vouched: bool
    age: float
    body: str  # the session as its host shows it, JSON


class SharedEvent(Struct, frozen=True):
    seq: int
    at: float
    host: str
    granted: bool
    because: str | None
    by: str | None
    claim: Claim


class SharedLedger(Protocol):
    async def enrol(self, name: str, version: str) -> Membership: ...

    async def renew(self, is_open: Callable[[str], bool]) -> list[SharedClaim]:
        """Our lease holds for another while; what the ledger has as ours. Requests of ours that are not open
        leave their lines. Raises `Superseded`."""

    async def decide(self, command: SharedCommand, decide: Decide, floor: int) -> Answer:
        """Under the item's lock: what the rules say, stored. A grant's fence is above `floor`."""

    async def free(
        self,
        item: Item,
        fence: int,
        because: Freed,
        forget: str | None = None,
        *,
        unless: Callable[[], bool] = ...,
    ) -> bool:
        """If it is still ours with that fence. `forget`: the request, which nobody was answered. `unless` is
        asked under the item's lock."""

    async def read(self, items: Sequence[Item]) -> dict[Item, SharedClaim]: ...

    async def held(self) -> tuple[list[SharedClaim], dict[Item, int]]:
        """All that is held, and how many wait for what."""

    async def history(self, item: Item, limit: int) -> list[SharedEvent]: ...

    async def leave(self) -> int:
        """All that is ours is freed, and the host is forgotten. Gives the number of claims. Raises `Superseded`:
        what is there belongs to another daemon now."""
