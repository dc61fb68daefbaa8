"""Messages about sessions: the list, one session in full, its explanation, its last lines, and who the caller is.

Rules
  1. Field names are a contract: they are only ever added.
  2. Times are RFC 3339 in UTC with milliseconds. Absent facts are null, not missing.
  3. Plain data only, without behaviour. The OpenAPI document is generated from these types.

Not here: events (wire/events.py), claims (wire/claims.py), filling the rows (daemon/views/session_row.py).
"""

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
    archived_at: str | None = None  # closed for good
    where: str | None = None  # the terminal, as people name it: work:3.1, vscode
    tmux: TmuxPane | None = None


class Sessions(msgspec.Struct, kw_only=True):
    sessions: list[SessionRow]
    rebooted: int = 0  # how many a reboot ended that no person was shown yet


class EvidenceLine(msgspec.Struct, kw_only=True):
    says: str  # alive, dead, unknown, working, waiting, ...
    code: str  # the reason, for programs: stable, while the sentence may change
    because: str
    source: str  # kernel, hook, http, registry, clock
    at: str | None
    stands: bool  # false: this evidence lost
    why_not: str | None  # with stands=false: why it lost or was not taken


class Belief(msgspec.Struct, kw_only=True):
    value: str
    code: str  # the reason, for programs: stable, while the sentence may change
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


# --- announcing oneself ---------------------------------------------------------------------------


# --- claims --------------------------------------------------------------------------------------


class FactSource(msgspec.Struct, kw_only=True):
    source: str  # kernel, hook, http, registry, transcript, git, scan, registration, operator
    at: str | None


class SessionDetail(SessionRow, kw_only=True):
    """One session in full."""

    transcript: str | None
    sources: dict[str, FactSource]  # by field, where somebody said it


class Rebooted(msgspec.Struct, kw_only=True):
    sessions: list[SessionRow]  # ended by a reboot, and not shown to a person before


class PeekLine(msgspec.Struct, kw_only=True):
    who: str | None  # user, agent, tool; null: a line of a terminal
    text: str  # foreign
    at: str | None


class Peek(msgspec.Struct, kw_only=True):
    session: str
    source: str  # transcript, pane
    lines: list[PeekLine]


class Rung(msgspec.Struct, kw_only=True):
    rung: str  # peer, token, environment, operator
    taken: bool
    why: str
    session: str | None


class Me(msgspec.Struct, kw_only=True):
    kind: str  # agent, descendant; with explain also operator, nobody
    session: str | None
    agent: str | None
    conversation: str | None
    pid: int | None  # of the agent's process
    resolved_by: str | None  # peer, token, environment
    name: str | None
    role: str | None
    groups: list[str]
    above: list[str]  # the sessions that this one was started inside, nearest first
    rungs: list[Rung]  # empty unless asked for
    refusal: str | None = None  # of a nobody: what was wrong with what it offered
    way_out: str | None = None  # of a nobody: what it can do about that, where there is something
