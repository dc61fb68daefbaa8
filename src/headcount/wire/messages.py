"""The messages of the wire, as msgspec types. The OpenAPI document is made from them.

Rules of this file
  1. Field names are a contract: they are only ever added.
  2. Times are RFC 3339 in UTC with milliseconds. Absent facts are null, not missing.
  3. Plain data only: no behaviour beyond what a field is called.
"""

from typing import Any

import msgspec


class Ended(msgspec.Struct, kw_only=True):
    at: str
    because: str  # a sentence: "killed (SIGKILL)", "continued as 5e61 (/clear)"
    kind: str  # exited, killed, superseded, closed, rebooted, reported, unseen
    exit_code: int | None
    signal: int | None
    away: bool  # it happened while headcount was not running
    successor: str | None


class BackgroundWork(msgspec.Struct, kw_only=True):
    id: str
    kind: str
    label: str


class Tokens(msgspec.Struct, kw_only=True):
    input: int  # all that went in, from a cache or not
    output: int


class TmuxPane(msgspec.Struct, kw_only=True):
    socket: str  # of the server
    pane: str  # %5


class SessionRow(msgspec.Struct, kw_only=True):
    id: str
    agent: str
    conversation: str | None
    pid: int | None
    liveness: str  # alive, unknown, lost, ended
    activity: str  # working, waiting, done, failed, idle, unknown
    waiting_on: str | None  # permission, question, plan
    failure: str | None  # limit, error
    doing: str | None
    since: str  # since when it has been in this state
    name: str | None
    role: str | None
    groups: list[str]
    cwd: str | None
    title: str | None  # the title that somebody gave the conversation
    model: str | None
    context_tokens: int | None
    entrypoint: str | None
    permission_mode: str | None
    started_at: str
    last_event_at: str
    source: str  # which source decided the activity: hook, http, registry, none
    background: list[BackgroundWork]
    provisional: bool
    parent: str | None
    predecessor: str | None
    claims: list[str]
    alarms: list[str]
    ended: Ended | None
    state_since: str | None = None  # as `since`; of an ended one: its end
    repo: str | None = None
    branch: str | None = None
    worktree: str | None = None  # the checkout's top, when it is a linked worktree
    context_window: int | None = None  # these are what the agent's own files say; null: they do not
    tokens: Tokens | None = None
    cost_usd: float | None = None
    version: str | None = None  # of the agent's program
    resume: str | None = None  # the agent's own command that goes on with the conversation
    stalled: bool = False  # working, and nothing stirs: a hint
    quiet_until: str | None = None  # a declared silence; over when that time has come
    quiet_why: str | None = None
    archived_at: str | None = None  # closed for good
    where: str | None = None  # the terminal, as people name it: work:3.1, vscode
    tmux: TmuxPane | None = None


class Sessions(msgspec.Struct, kw_only=True):
    sessions: list[SessionRow]
    rebooted: int = 0  # how many a reboot ended that no person was shown yet


class EvidenceLine(msgspec.Struct, kw_only=True):
    says: str  # alive, dead, unknown, working, waiting, ...
    because: str
    source: str  # kernel, hook, http, registry, clock
    at: str | None
    stands: bool  # false: this evidence lost
    why_not: str | None  # with stands=false: why it lost or was not taken


class Belief(msgspec.Struct, kw_only=True):
    value: str
    because: str
    source: str
    at: str | None
    evidence: list[EvidenceLine]


class Explanation(msgspec.Struct, kw_only=True):
    session: SessionRow
    liveness: Belief
    activity: Belief
    binding: Belief  # which process, and how that was learned
    agree: bool
    would_change: list[str]
    context: Belief | None = None  # of its start (`hooks install --context`), where it was not delivered


class Holder(msgspec.Struct, kw_only=True):
    session: str | None  # null: a process without a session, as `hold` is
    conversation: str | None
    pid: int | None
    name: str | None = None
    host: str | None = None  # of a shared claim: on which host of the fleet
    here: bool = True  # false: on another host, so its session is not one of ours


class LeftoverRow(msgspec.Struct, kw_only=True):
    """What an ended session left. The figures are of now, and null where they cannot be read or make no sense."""

    id: str
    kind: str  # process, second-writer, pane, worktree, record
    session: str | None  # null: nobody that is remembered left it
    pid: int | None
    what: str
    evidence: list[str]
    found_at: str
    gone_at: str | None
    age_s: float | None  # how long the process runs
    cpu_s: float | None
    memory_bytes: int | None
    ports: list[int]  # on which it listens
    facts: dict[str, Any]


class EventRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    seq: int
    at: str
    type: str
    session: SessionRow | None = None
    facts: dict[str, Any] | None = None
    item: str | None = None  # these are of claims
    fence: int | None = None
    holder: Holder | None = None  # who got it, or who had it
    because: str | None = None  # of a release: released, died, forced, handed-off, withdrawn, lease-lost
    by: str | None = None  # who forced it
    leftover: LeftoverRow | None = None


class Snapshot(msgspec.Struct, kw_only=True):
    seq: int
    sessions: list[SessionRow]


class History(msgspec.Struct, kw_only=True):
    events: list[EventRow]
    oldest: int  # the oldest sequence number still kept


class Health(msgspec.Struct, kw_only=True):
    ok: bool
    version: str
    pid: int


class Status(msgspec.Struct, kw_only=True):
    pid: int
    version: str
    build: str  # changes with the code of the installation that runs
    uptime_s: float
    started_at: str
    socket: str
    mailbox: str
    url: str | None
    sessions: int  # not ended
    counts: dict[str, int]  # by activity, of the living
    agents: dict[str, int]  # living sessions by agent
    processes: str  # the adapter: linux, portable
    watched: int
    polled: int  # of those, how many must be polled because no descriptor was left
    polled_directories: (
        int  # looked at once a second, because no inotify watch was left, or there is no inotify
    )
    store: dict[str, Any]
    warnings: list[str]
    unknown_events: dict[str, int]
    rebooted: int = 0  # how many a reboot ended that no person was shown yet


class Fault(msgspec.Struct, kw_only=True):
    code: str
    message: str
    hint: str | None = None


class FaultBody(msgspec.Struct, kw_only=True):
    error: Fault


# --- announcing oneself ---------------------------------------------------------------------------


class Registration(msgspec.Struct, kw_only=True):
    """What is registered. `pid`: the process of the session; without it the agent above the caller, or the caller."""

    agent: str
    conversation: str | None = None
    pid: int | None = None
    name: str | None = None
    role: str | None = None
    groups: list[str] = []
    anyway: bool = False  # although the conversation is alive elsewhere
    launch: bool = False  # a token is wanted
    window: bool = False  # the tmux window that it is in was opened for it
    launched_by: str | None = None  # of a window: the session that opened it


class Registered(msgspec.Struct, kw_only=True):
    session: str
    pid: int
    token_file: str | None  # the path of a private file; the token is nowhere else


class NotRegistered(msgspec.Struct, kw_only=True):
    """The 409 of a registration: the fault, and the session that is in the way."""

    error: Fault
    session: SessionRow | None


class Withdrawn(msgspec.Struct, kw_only=True):
    session: str
    withdrawn: bool  # false: it had no registration
    alive: bool  # its process goes on, and so does the session


# --- claims --------------------------------------------------------------------------------------


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


class ClaimHistory(msgspec.Struct, kw_only=True):
    item: str
    history: list[EventRow]  # oldest first


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
