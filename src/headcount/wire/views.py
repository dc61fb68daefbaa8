"""Types of what the daemon answers, for the faces: each is the dict that one message of wire/ is as JSON.

Rules
  1. Each has the name, the fields and the types of its msgspec struct; tests/rules/test_views.py compares them.
     Listed there: the types that have no struct, and the fields that only some answers have.
  2. Every field may be missing (`total=False`): a daemon of another version may leave it out.
  3. Only `typing` is imported. Faces import this under TYPE_CHECKING: it costs no start-up time.

Not here: what a field means (the structs in wire/ say it), typed values of the Python client (client/values.py).
"""

from typing import TypedDict


class Holder(TypedDict, total=False):
    session: str | None
    conversation: str | None
    pid: int | None
    name: str | None
    host: str | None
    here: bool


class ClaimRow(TypedDict, total=False):
    item: str
    fence: int
    holder: Holder
    since: str
    note: str | None
    waiting: int
    shared: bool
    vouched: bool
    free_in_s: float | None


class Ended(TypedDict, total=False):
    at: str
    because: str
    kind: str
    exit_code: int | None
    signal: int | None
    away: bool
    successor: str | None


class BackgroundWork(TypedDict, total=False):
    id: str
    kind: str
    label: str


class Tokens(TypedDict, total=False):
    input: int
    output: int


class TmuxPane(TypedDict, total=False):
    socket: str
    pane: str


class SessionRow(TypedDict, total=False):
    id: str
    agent: str
    conversation: str | None
    pid: int | None
    liveness: str
    activity: str
    waiting_on: str | None
    failure: str | None
    doing: str | None
    since: str
    name: str | None
    role: str | None
    groups: list[str]
    cwd: str | None
    title: str | None
    model: str | None
    context_tokens: int | None
    entrypoint: str | None
    permission_mode: str | None
    started_at: str
    last_event_at: str
    source: str
    background: list[BackgroundWork]
    provisional: bool
    parent: str | None
    predecessor: str | None
    claims: list[str]
    alarms: list[str]
    ended: Ended | None
    state_since: str | None
    repo: str | None
    branch: str | None
    worktree: str | None
    context_window: int | None
    tokens: Tokens | None
    cost_usd: float | None
    version: str | None
    resume: str | None
    stalled: bool
    archived_at: str | None
    where: str | None
    tmux: TmuxPane | None
    host: str | None  # these three only in lists of other hosts
    host_state: str | None
    host_age_s: float | None


class HostRow(TypedDict, total=False):
    """A host of `ps --fleet` or `ps --host`."""

    name: str
    state: str  # alive, unknown
    age_s: float | None  # of what it said last
    fault: str | None  # of `ps --host`: why it does not answer


class Sessions(TypedDict, total=False):
    sessions: list[SessionRow]
    rebooted: int
    hosts: list[HostRow]  # of `ps --fleet` and `ps --host`


class EvidenceLine(TypedDict, total=False):
    says: str
    code: str
    because: str
    source: str
    at: str | None
    stands: bool
    why_not: str | None


class Belief(TypedDict, total=False):
    value: str
    code: str
    because: str
    source: str
    at: str | None
    evidence: list[EvidenceLine]


class Explanation(TypedDict, total=False):
    session: SessionRow
    liveness: Belief
    activity: Belief
    binding: Belief
    agree: bool
    would_change: list[str]
    context: Belief | None


class FactSource(TypedDict, total=False):
    source: str
    at: str | None


class SessionDetail(SessionRow, total=False):
    transcript: str | None
    sources: dict[str, FactSource]


class Rebooted(TypedDict, total=False):
    sessions: list[SessionRow]


class Rung(TypedDict, total=False):
    rung: str
    taken: bool
    why: str
    session: str | None


class Me(TypedDict, total=False):
    kind: str
    session: str | None
    agent: str | None
    conversation: str | None
    pid: int | None
    resolved_by: str | None
    name: str | None
    role: str | None
    groups: list[str]
    above: list[str]
    rungs: list[Rung]
    refusal: str | None
    way_out: str | None


class LeftoverRow(TypedDict, total=False):
    id: str
    kind: str
    session: str | None
    pid: int | None
    what: str
    evidence: list[str]
    found_at: str
    gone_at: str | None
    age_s: float | None
    cpu_s: float | None
    memory_bytes: int | None
    ports: list[int]
    facts: dict[str, object]


class Leftovers(TypedDict, total=False):
    leftovers: list[LeftoverRow]


class Signalled(TypedDict, total=False):
    pid: int
    what: str
    session: str | None
    leftover: str | None
    outcome: str
    because: str
    seconds: float | None


class Ancestor(TypedDict, total=False):
    program: str
    pid: int


class Caller(TypedDict, total=False):
    """Who asked for an ending."""

    terminal: str | None
    chain: list[Ancestor]


class EventFacts(Signalled, total=False):
    """What an event says beside its session, by kind; no event has all of it. Of an ending: what Signalled has."""

    message: str
    signal: str  # of an ending
    verb: str
    by: str
    caller: Caller | None
    closes_at: str  # of an idle session
    freed: list[str]  # of a death
    left: dict[str, int]
    resumable: bool


class EventRow(TypedDict, total=False):
    seq: int
    at: str
    type: str
    session: SessionRow | None
    facts: EventFacts | None
    item: str | None
    fence: int | None
    holder: Holder | None
    because: str | None
    by: str | None
    leftover: LeftoverRow | None


class StreamEvent(EventRow, total=False):
    """An event of the stream. The first has the type `snapshot` and all sessions."""

    sessions: list[SessionRow]
    host: str  # of `watch --host`


class History(TypedDict, total=False):
    events: list[EventRow]
    oldest: int


class Span(TypedDict, total=False):
    since: str
    to: str
    activity: str
    waiting_on: str | None
    doing: str | None


class HeldSpan(TypedDict, total=False):
    item: str
    fence: int
    since: str
    to: str | None
    because: str | None


class Lane(TypedDict, total=False):
    session: str
    agent: str
    name: str | None
    cwd: str | None
    liveness: str
    activity: str
    spans: list[Span]
    claims: list[HeldSpan]
    ended: Ended | None


class Blind(TypedDict, total=False):
    since: str
    to: str


class Timeline(TypedDict, total=False):
    since: str
    to: str
    lanes: list[Lane]
    blind: list[Blind]
    whole: bool
