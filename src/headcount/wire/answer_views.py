"""Types of what the daemon answers to single commands, for the faces.

Rules
  1. The rules of views.py: the fields of the structs, each may be missing, imported for type checking only.

Not here: rows, events and explanations (views.py).
"""

from typing import TypedDict

from headcount.wire.views import ClaimRow, EventRow, Holder, SessionRow, Signalled


class Conflict(TypedDict, total=False):
    item: str
    holder: Holder
    since: str
    liveness: str | None
    activity: str | None
    touches: list[str]
    doing: str | None
    note: str | None


class Conflicts(TypedDict, total=False):
    conflicts: list[Conflict]


class Claims(TypedDict, total=False):
    claims: list[ClaimRow]
    loss: str | None
    fleet: str | None


class LossAccepted(TypedDict, total=False):
    accepted: bool
    loss: str | None


class ClaimAnswer(TypedDict, total=False):
    item: str
    granted: bool
    fence: int | None
    holder: Holder | None
    because: str
    code: str
    since: str | None
    under: str | None
    still_running: list[int]
    held_item: str | None
    ahead: int
    note: str | None


class ReleaseAnswer(TypedDict, total=False):
    item: str
    released: bool
    fence: int | None
    because: str
    again: bool
    host: str | None
    next: Holder | None
    holder: Holder | None


class CheckAnswer(TypedDict, total=False):
    item: str
    current: bool
    fence: int | None
    holder: Holder | None
    because: str
    lost: bool


class PeekLine(TypedDict, total=False):
    who: str | None
    text: str
    at: str | None


class Peek(TypedDict, total=False):
    session: str
    source: str
    lines: list[PeekLine]


class ClaimHistory(TypedDict, total=False):
    item: str
    history: list[EventRow]


class Waited(TypedDict, total=False):
    session: str
    name: str | None
    times: int
    seconds: float


class Today(TypedDict, total=False):
    since: str
    waited_s: float
    any_s: float
    waits: int
    waiting_now: int
    sessions: list[Waited]


class StopAnswer(TypedDict, total=False):
    session: str
    ended: bool
    results: list[Signalled]


class CloseAnswer(TypedDict, total=False):
    session: str
    closed: bool
    results: list[Signalled]
    others: list[int]
    window: str | None
    resume: list[str] | None
    again: bool


class ReapAnswer(TypedDict, total=False):
    dry: bool
    results: list[Signalled]
    left_alone: list[str]


class FleetHost(TypedDict, total=False):
    id: str
    name: str
    here: bool
    state: str
    seen_at: str
    age_s: float
    sessions: int
    claims: int
    version: str
    epoch: int


class FleetStatus(TypedDict, total=False):
    joined: bool
    database: str | None
    name: str | None
    vouched: bool
    fault: str | None
    hosts: list[FleetHost]


class FleetLeft(TypedDict, total=False):
    left: bool
    freed: int
    closed: int


class ChannelOutcome(TypedDict, total=False):
    channel: str
    ok: bool
    because: str | None


class NotifyTest(TypedDict, total=False):
    channels: list[ChannelOutcome]
    config: str
    drift: str | None


class StoreFacts(TypedDict, total=False):
    path: str
    bytes: int


class Status(TypedDict, total=False):
    pid: int
    version: str
    build: str
    uptime_s: float
    started_at: str
    socket: str
    mailbox: str
    url: str | None
    sessions: int
    counts: dict[str, int]
    agents: dict[str, int]
    processes: str
    watched: int
    polled: int
    polled_directories: int
    store: StoreFacts
    warnings: list[str]
    unknown_events: dict[str, int]
    rebooted: int


class Whereabouts(TypedDict, total=False):
    session: SessionRow
    known: bool
    because: str | None
    program: str | None
    socket: str | None
    pane: str | None
    window: str | None
    server: int | None
    server_since: int | None


class Resumption(TypedDict, total=False):
    session: SessionRow
    command: list[str]
    cwd: str | None
    alive_in: SessionRow | None


class Registered(TypedDict, total=False):
    session: str
    pid: int
    token_file: str | None


class PageLink(TypedDict, total=False):
    url: str
    plain_url: str | None
