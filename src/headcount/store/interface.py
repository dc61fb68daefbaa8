"""The interface of the local store, and the two errors that it raises.

Rules
  1. When `commit` returns, what it was given survives a kill, a full disk and a power cut. When it raises,
     nothing of it is stored.
  2. No exception of a database driver leaves the store: it becomes a `StoreFault`, whose text names the next
     step.
  3. A start reads rows (`Loaded`), never history.

Not here: SQLite (sqlite/adapter.py), bodies of rows (codec.py), when to retry or to stop (daemon/).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct, field

from headcount.core.state.claims import AnsweredRequest, Entries
from headcount.core.values.claim import Claim
from headcount.core.values.events import Event
from headcount.core.values.leftover import Leftover, LeftoverId
from headcount.core.values.session import Session, SessionId

FaultKind = Literal["full", "io", "readonly", "busy", "corrupt", "gone", "value", "other"]


class StoreFault(Exception):
    """The store could not do it. `kind` is for the program, the text for people."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


class NewerSchema(Exception):
    """The file was written by a newer headcount. It was not touched."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema version {found}, this headcount knows {known}: "
            "upgrade headcount, or point HEADCOUNT_HOME at another place"
        )
        self.found = found
        self.known = known


class Loaded(Struct, frozen=True):
    """What was remembered when the store was opened."""

    sessions: list[Session]
    seq: int  # the last sequence number given; 0: none yet
    machine: str | None  # where the store was last used; None: it is new
    last_seen: float | None  # time of the newest event
    set_aside: Path | None = None  # a damaged file was moved there, and this store is new
    machines: Mapping[SessionId, str] = field(default_factory=dict)  # where each session began
    claims: list[Claim] = field(default_factory=list)  # of every item that was ever claimed
    requests: list[AnsweredRequest] = field(default_factory=list)  # oldest first
    leftovers: list[Leftover] = field(default_factory=list)
    loss: str | None = None  # where a lost store lies, until somebody has accepted that its claims are lost
    born: int = 0  # when this ledger was begun, in milliseconds, as its fences count; 0: not known

    @property
    def newest_fence(self) -> int:
        return max((claim.fence for claim in self.claims), default=0)


class Store(Protocol):
    @property
    def loaded(self) -> Loaded: ...

    async def commit(
        self,
        events: Sequence[Event],
        rows: Sequence[Session],
        dropped: Sequence[SessionId] = (),
        ledger: Entries | None = None,
        leftovers: Sequence[Leftover] = (),
        cleared: Sequence[LeftoverId] = (),
    ) -> None:
        """All of it or nothing. Cancelling the caller does not undo what is already on its way."""

    async def history(
        self,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int = 1000,
        session: str | None = None,
        item: str | None = None,
        types: Sequence[str] = (),
        since: float | None = None,
        newest: bool = False,
    ) -> list[Event]:
        """Events in the order of their numbers, `after` < seq <= `until`. Of more than `limit` the
        first are given, with `newest` the last."""

    async def oldest(self) -> int:
        """The oldest sequence number still kept; 0: there is none. None is missing after it."""

    async def prune(self, *, before: float, max_bytes: int) -> int:
        """Forget what is older than `before`, then the oldest events until the file is small
        enough. The newest event always stays. Gives the number of rows removed."""

    def size(self) -> int: ...

    def close(self) -> None: ...
