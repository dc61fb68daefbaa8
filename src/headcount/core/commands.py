"""Commands: what somebody wants done with a claim. They come in like evidence and get an answer.

Rules of this file
  1. A command names its caller as the kernel showed it at the edge. Its liveness is not in it: that is
     asked again when the command is decided.
  2. Asking twice with one request id is asking once.
"""

from enum import Enum

from msgspec import Struct

from headcount.core.values.claim import Claim, Freed
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId


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
