"""Claims: who holds an item with which fencing token, the commands on claims, and their answers.

Rules
  1. The holder is a process incarnation. Session and conversation describe the holder; they hold nothing.
  2. The row of a freed item stays, because the next grant must know its last fence.
  3. A fence is given once. Release, death or restart never makes it available again.
  4. A refusal is an answer. Only `Granted` says that the caller holds the item now.
  5. A command names its caller as the kernel showed it at the edge. It does not say whether the caller is
     alive: that is proved again when the command is decided.
  6. Two requests with the same request id are one request.

Not here: who is alive (core/values/verdict.py), when something is granted (core/claims/ledger.py), storage
  (store/).
"""

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.values.item import Item
from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.session import SessionId


class Freed(Enum):
    """Why a claim ended."""

    RELEASED = "released"
    DIED = "died"
    FORCED = "forced"
    HANDED_OFF = "handed-off"
    WITHDRAWN = "withdrawn"  # its caller gave up before it had the answer
    LEASE_LOST = "lease-lost"  # of a shared claim: its host was away for too long


class Claim(Struct, frozen=True, omit_defaults=True):
    item: Item
    fence: int
    holder: ProcessIdentity | None  # None: free; the rest says who had it last
    session: SessionId | None = None
    conversation: str | None = None
    since: float = 0.0
    note: str | None = None
    request: str | None = None
    until_empty: bool = False
    freed: Freed | None = None
    freed_at: float | None = None
    host: str | None = None  # of a shared claim: what the holder's host is called

    @property
    def is_held(self) -> bool:
        return self.holder is not None

    def is_held_by(self, process: ProcessIdentity | None) -> bool:
        """Doubt is not holding."""
        if self.holder is None or process is None:
            return False
        return same_process(self.holder, process) is Match.SAME


def freed(claim: Claim, because: Freed, at: float) -> Claim:
    return replace(claim, holder=None, freed=because, freed_at=at)


# --- answers ---------------------------------------------------------------------------------------


class Granted(Struct, frozen=True):
    claim: Claim
    again: bool = False  # it was held by the asker already: the same fence
    retold: bool = False  # and this is the very request that it was granted to: the answer may have been lost
    under: bool = False  # it is an ancestor's claim: the asker works under it and cannot release it
    still_running: tuple[int, ...] = ()  # of the holder before: processes that may still write


class Waits(Struct, frozen=True):
    """Somebody in line."""

    item: Item
    process: ProcessIdentity
    session: SessionId | None = None


class Held(Struct, frozen=True):
    claim: Claim | None  # what stands in the way; None: only others who wait
    ahead: int = 0  # how many came earlier and wait for something of the same
    first: Waits | None = None  # of those the first, where nothing but them stands in the way


class ClaimRefused(Struct, frozen=True):
    code: str
    why: str
    claim: Claim | None = None


class Released(Struct, frozen=True):
    claim: Claim  # as it was held
    because: Freed
    again: bool = False  # that very claim was over already


class Waiting(Struct, frozen=True):
    """No answer yet: it comes under this request's id."""

    request: str


class Accepted(Struct, frozen=True):
    """Noted; there is nothing to say about it."""


Answer = Granted | Held | ClaimRefused | Released | Waiting | Accepted


class CallerKind(Enum):
    OPERATOR = "operator"  # a person at a shell outside every agent
    AGENT = "agent"  # a session, or what it runs for itself
    NOBODY = "nobody"


class Caller(Struct, frozen=True):
    """On whose behalf something is asked: the process that holds or would hold."""

    process: ProcessIdentity | None
    session: SessionId | None = None
    kind: CallerKind = CallerKind.AGENT
    above: tuple[ProcessIdentity, ...] = ()  # verified: it may work under their claims


class Acquire(Struct, frozen=True):
    item: Item
    caller: Caller
    request: str
    note: str | None = None
    wait_until: float | None = None
    until_empty: bool = False


class Release(Struct, frozen=True):
    item: Item
    caller: Caller
    fence: int | None = None
    force: bool = False


class HandOff(Struct, frozen=True):
    item: Item
    to: SessionId
    caller: Caller
    fence: int | None = None


class Withdraw(Struct, frozen=True):
    """The caller of that request gave up. With a caller: it said so, and the id is never granted afterwards. Without:
    its connection ended before it had read the answer, and it may ask again with the same id."""

    request: str
    item: Item = Item("")  # the fleet's ledger has a row for each item; our own finds the request without
    caller: Caller | None = None


class AcceptLoss(Struct, frozen=True):
    """The operator knows that a store was lost with its claims, and that grants may go on."""

    caller: Caller


class SharedGranted(Struct, frozen=True):
    """The shared ledger gave this to a process of ours."""

    claim: Claim
    again: bool = False
    request: str | None = None  # that was answered with it
    retold: bool = False  # it was answered so before


class SharedFreed(Struct, frozen=True):
    """The shared ledger no longer has this as ours."""

    item: Item
    fence: int
    because: Freed
    by: str | None = None


Command = Acquire | Release | HandOff | Withdraw | AcceptLoss | SharedGranted | SharedFreed
