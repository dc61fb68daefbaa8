"""Messages about claims: asking, answers, the list, checks, hand-offs, and what a guard finds in git's way.

Rules
  1. Field names are only ever added, times are text, absent facts are null (as in wire/sessions.py).

Not here: filling the rows (daemon/views/claim_row.py), the history of an item (wire/events.py).
"""

import msgspec


class Holder(msgspec.Struct, kw_only=True):
    session: str | None  # null: a process without a session, as `hold` is
    conversation: str | None
    pid: int | None
    name: str | None = None
    host: str | None = None  # of a shared claim: on which host of the fleet
    here: bool = True  # false: on another host, so its session is not one of ours


class GitIntent(msgspec.Struct, kw_only=True):
    """What git is about to do: the files a commit touches, absolute, and the branches it moves, as items."""

    paths: list[str] = []
    items: list[str] = []


class Conflict(msgspec.Struct, kw_only=True):
    item: str
    holder: Holder
    since: str
    liveness: str | None
    activity: str | None
    touches: list[str]  # of the paths asked for: those it covers, the first of them
    doing: str | None = None  # what its session is at, as in the list of sessions
    note: str | None = None  # what the holder said that it is for


class Conflicts(msgspec.Struct, kw_only=True):
    conflicts: list[Conflict]


class ClaimRow(msgspec.Struct, kw_only=True):
    item: str
    fence: int
    holder: Holder
    since: str
    note: str | None
    waiting: int  # how many wait for it
    shared: bool = False  # kept in the fleet's ledger
    vouched: bool = True  # false: its host has not been heard of for longer than its lease
    free_in_s: float | None = (
        None  # of one that is not vouched for: when others may take it, if its host stays away
    )


class Claims(msgspec.Struct, kw_only=True):
    claims: list[ClaimRow]
    loss: str | None  # a lost store that nobody has accepted yet: nothing is granted
    fleet: str | None = None  # why the fleet's claims are not all here; null: they are, or none was joined


class ClaimWish(msgspec.Struct, kw_only=True):
    """Asking for an item. The same request id asks the same question again."""

    item: str
    request: str | None = None
    note: str | None = None
    wait: float | None = None  # seconds
    as_: str | None = msgspec.field(name="as", default=None)  # for that session; the operator's alone
    until_empty: bool = False
    own: bool = False  # the calling process itself holds it, not the agent above it


class ClaimAnswer(msgspec.Struct, kw_only=True):
    """The same fields with 200 (granted) and 409 (not)."""

    item: str
    granted: bool
    fence: int | None  # yours; null when not granted
    holder: Holder | None  # you, or who is in the way
    because: str
    code: str  # granted, again, under, held, or why it was refused
    since: str | None
    under: str | None  # the session above, whose claim covers you; only it releases
    still_running: list[int]  # processes of the holder before that may still write
    held_item: str | None  # what is in the way, when it is a path that overlaps
    ahead: int  # how many wait before you
    note: str | None = None  # of a refusal: what the holder said that it is for


class ReleaseAnswer(msgspec.Struct, kw_only=True):
    item: str
    released: bool  # false: a request was withdrawn that had been granted nothing
    fence: int | None
    because: str  # released, forced, withdrawn; or how it had ended before
    again: bool  # that claim was over already
    host: str | None = None  # of a shared claim that another host's process held: which host
    next: Holder | None = None  # who waited for it and has it now
    holder: Holder | None = None  # of a release for another (force, as): whose it was


class FenceCheck(msgspec.Struct, kw_only=True):
    fence: int


class CheckAnswer(msgspec.Struct, kw_only=True):
    item: str
    current: bool
    fence: int | None  # of the claim that is held now
    holder: Holder | None
    because: str
    lost: bool = False  # it is of a ledger that was lost: nobody took it away, and nobody knows of it


class HandOffWish(msgspec.Struct, kw_only=True):
    to: str
    fence: int | None = None


class LossAccepted(msgspec.Struct, kw_only=True):
    accepted: bool
    loss: str | None  # where the lost store lies
