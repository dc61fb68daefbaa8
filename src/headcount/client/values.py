"""Typed values that the Python client returns, and the checks of its arguments before anything is sent.

Rules
  1. Values are frozen. Field names are the wire's; `raw` has everything, also what a newer daemon added.
  2. A refusal is a value. `need()` turns it into an exception for callers that cannot go on without the item.
  3. Arguments that make no sense raise `WrongCall` here, not whatever fails first somewhere inside.
  4. The next step of a refusal is a call or an argument, not a shell command.

Not here: requests (client/sync.py, client/aio.py), what an item is (core/values/item.py: the daemon says what
  is wrong with one), the command line's words (cli/).
"""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headcount import times
from headcount.client.faults import Refused, WrongCall, remade

if TYPE_CHECKING:
    from headcount.wire.views import ClaimAnswer, ClaimRow, Claims, Ended, SessionRow, StreamEvent
    from headcount.wire.views import Holder as HolderView
    from headcount.wire.views import Me as MeView

NOT_AN_AGENT = "not-an-agent"
HOW_TO_HOLD = (
    "To hold it by this process itself: own=True. To act for a live session: acting_as=its name or id. "
    "In a shell: headcount hold ITEM -- CMD"
)


class HeldByAnother(Refused):
    """The item was needed and not granted; `claim` says who has it."""

    def __init__(self, claim: "Claim") -> None:
        super().__init__(409, claim.code or "held", claim.because, _next_step(claim.code))
        self.claim = claim

    def __reduce__(self) -> "tuple[object, ...]":
        claim = Claim(**{name: getattr(self.claim, name) for name in Claim.__slots__})  # without its client
        return remade, (type(self), self.args, {**self.__dict__, "claim": claim})


@dataclass(frozen=True, slots=True)
class Holder:
    session: str | None  # None: a process without a session, as `hold` is
    conversation: str | None
    pid: int | None
    name: str | None

    @classmethod
    def of(cls, data: "HolderView | None") -> "Holder | None":
        if not isinstance(data, dict):
            return None
        return cls(data.get("session"), data.get("conversation"), data.get("pid"), data.get("name"))


@dataclass(frozen=True, slots=True)
class Claim:
    item: str
    granted: bool
    fence: int | None  # the claim's number; None when it was refused
    holder: Holder | None  # who has it: the caller's own process, or who stands in the way
    since: str | None
    note: str | None
    because: str
    code: str | None  # granted, again, under; or held, unverified, not-an-agent, ...
    under: str | None  # the session above, whose claim this is
    still_running: tuple[int, ...]  # processes of a dead holder that may still write
    raw: "ClaimAnswer | ClaimRow" = field(repr=False, compare=False)

    @property
    def again(self) -> bool:
        """The caller's process held it already: the same number."""
        return self.code == "again"

    def __bool__(self) -> bool:
        return self.granted

    def need(self) -> None:
        if not self.granted:
            raise HeldByAnother(self)


def claim_fields(data: "ClaimAnswer | ClaimRow") -> dict[str, Any]:
    """Of an answer to a claim."""
    running = data.get("still_running")
    return {
        "item": str(data.get("item")),
        "granted": data.get("granted") is True,
        "fence": data.get("fence"),
        "holder": Holder.of(data.get("holder")),
        "since": data.get("since"),
        "note": data.get("note"),
        "because": str(data.get("because") or ""),
        "code": data.get("code"),
        "under": data.get("under"),
        "still_running": tuple(running) if isinstance(running, list) else (),
        "raw": data,
    }


def listed(data: "Claims") -> list[Claim]:
    """All that is held, of the list's answer."""
    return [Claim(**(claim_fields(row) | {"granted": True})) for row in data.get("claims") or ()]


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    agent: str
    conversation: str | None
    pid: int | None
    liveness: str  # alive, unknown, lost, ended
    activity: str  # working, waiting, done, failed, idle, unknown
    waiting_on: str | None  # permission, question, plan
    doing: str | None
    name: str | None
    role: str | None
    groups: tuple[str, ...]
    cwd: str | None
    parent: str | None
    predecessor: str | None
    claims: tuple[str, ...]
    alarms: tuple[str, ...]
    ended: "Ended | None"
    raw: "SessionRow" = field(repr=False, compare=False)

    @classmethod
    def of(cls, row: "SessionRow") -> "Session":
        plain = ("id", "agent", "conversation", "pid", "liveness", "activity", "waiting_on", "doing", "name",
                 "role", "cwd", "parent", "predecessor", "ended")  # fmt: skip
        fields: dict[str, Any] = {name: row.get(name) for name in plain}
        return cls(
            **fields,
            groups=tuple(row.get("groups") or ()),
            claims=tuple(row.get("claims") or ()),
            alarms=tuple(row.get("alarms") or ()),
            raw=row,
        )


@dataclass(frozen=True, slots=True)
class Me:
    session: str | None
    agent: str | None
    conversation: str | None
    pid: int | None
    resolved_by: str | None  # peer, token, environment
    name: str | None
    role: str | None
    groups: tuple[str, ...]
    raw: "MeView" = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: "MeView") -> "Me":
        names = ("session", "agent", "conversation", "pid", "resolved_by", "name", "role")
        fields: dict[str, Any] = {name: data.get(name) for name in names}
        return cls(**fields, groups=tuple(data.get("groups") or ()), raw=data)


@dataclass(frozen=True, slots=True)
class Event:
    seq: int
    at: str | None
    type: str  # snapshot, session.started, session.ended, claim.granted, alarm.raised, ...
    session: Session | None
    item: str | None  # these are of claims
    fence: int | None
    holder: Holder | None
    because: str | None
    raw: "StreamEvent" = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: "StreamEvent") -> "Event":
        session = data.get("session")
        return cls(
            seq=int(data["seq"]),
            at=data.get("at"),
            type=str(data.get("type")),
            session=Session.of(session) if isinstance(session, dict) else None,
            item=data.get("item"),
            fence=data.get("fence"),
            holder=Holder.of(data.get("holder")),
            because=data.get("because"),
            raw=data,
        )


def _next_step(code: str | None) -> str | None:
    """For what passes by itself: when its holder gives it back or ends."""
    if code not in (None, "held", "still-running"):
        return None
    return "To wait in line for it: claim(…, wait=SECONDS). Who has it: the exception's claim.holder"


def is_over(refused: Refused) -> bool:
    """It was released, lost or handed on before: nothing is left to give back."""
    return refused.code in ("not-held", "stale", "not-yours")


def check_wish(item: object, wait: object, acting_as: object, own: object, **texts: object) -> None:
    """Of a claim: an item, a time to wait, and one holder."""
    check_item(item)
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        raise WrongCall(f"wait is a number of seconds, not {wait!r}.", "For example: wait=600")
    if not 0 <= wait <= times.WAIT_MOST:  # also refuses what is no number (NaN)
        raise WrongCall(
            f"wait is {wait!r}; it is from 0 to {times.WAIT_MOST:.0f} seconds, a day.", "Then ask again."
        )
    if own and acting_as is not None:
        raise WrongCall(
            "own=True and acting_as= name two different holders.",
            "own=True: this process holds it. acting_as=: that session does.",
        )
    for name, text in {"acting_as": acting_as, **texts}.items():
        if text is not None and not isinstance(text, str):
            raise WrongCall(f"{name} is a text or None, not {text!r}.")


def check_item(item: object) -> None:
    if not isinstance(item, str):
        raise WrongCall(f"An item is a text, not {item!r}.", 'For example: "task:AUTH-12"')


def in_python(refused: Refused) -> Refused:
    """The refusal of a claim, with a next step for programs."""
    if refused.code != NOT_AN_AGENT:
        return refused
    return Refused(refused.status, refused.code, refused.message, HOW_TO_HOLD)


def check_here(item: str, asked_by: int) -> None:
    """A claim is of the process that asked; a copy of it, made by fork, holds nothing."""
    if asked_by != os.getpid():
        raise WrongCall(
            f"{item} was claimed by process {asked_by}; this is process {os.getpid()}, which was forked from it.",
            "Only the process that claimed it enters it and gives it back. To hold it here, claim it here.",
        )
