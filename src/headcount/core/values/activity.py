"""Activity: what a living session does, judged from what its sources last said.

Rules
  1. Two sources speak of the main turn: hooks (`Turned`) and the agent's own registry (`Status`).
     Each is ordered by its own time; the newest word of each is all that is kept.
  2. `judge` is a table over (hook's word, registry's word, which is newer), `HOOK_STANDS`. It is
     derived from the stored words alone, so a restart gives the same answer.
  3. Subagents and background work stand beside the main activity and never change it.
  4. The loser of a disagreement is named.

Not here: how payloads become words (agents/), liveness (session.py).
"""

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.report import TURN_RANK, Turn, WaitingOn, counted


class Doing(FastEnum):
    WORKING = "working"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    IDLE = "idle"
    UNKNOWN = "unknown"


class Turned(Struct, frozen=True, omit_defaults=True):
    """A hook's word on the main turn."""

    at: float
    turn: Turn
    event: str
    source: str = "hook"
    waiting_on: WaitingOn | None = None
    label: str | None = None
    failure: str | None = None


class RegistryStatus(Struct, frozen=True, omit_defaults=True):
    """The registry's word."""

    at: float
    status: str
    waiting_on: WaitingOn | None = None
    source: str = "registry"
    rested: float = 0.0  # when it was last at rest: what a hook said before belongs to a turn that is over


def heard_status(word: RegistryStatus, before: RegistryStatus | None, now: float) -> RegistryStatus | None:
    """The registry's word to keep, or None where this one changes nothing. A late one still tells of its rest."""
    rests = min(word.at, now) if BY_STATUS.get(word.status) is Doing.IDLE else 0.0
    if before is None:
        return replace(word, rested=rests)
    rested = max(rests, counted(before.rested, now))
    kept = replace(word if word.at >= counted(before.at, now) else before, rested=rested)
    return None if kept == before else kept


class Activity(Struct, frozen=True, omit_defaults=True):
    doing: Doing = Doing.UNKNOWN
    waiting_on: WaitingOn | None = None
    label: str | None = None
    failure: str | None = None
    source: str = "none"
    because: str = "nothing heard yet"
    at: float = 0.0  # of the word that decided
    since: float = 0.0  # since when it has been this state


BY_TURN: dict[Turn, Doing] = {
    Turn.STARTED: Doing.IDLE,
    Turn.PROMPTED: Doing.WORKING,
    Turn.COMPACTING: Doing.WORKING,
    Turn.COMPACTED: Doing.WORKING,
    Turn.SETTLED: Doing.IDLE,
    Turn.TOOL: Doing.WORKING,
    Turn.ASKED: Doing.WAITING,
    Turn.TOOL_DONE: Doing.WORKING,
    Turn.STOPPED: Doing.DONE,
    Turn.FAILED: Doing.FAILED,
}

BY_STATUS: dict[str, Doing] = {
    "busy": Doing.WORKING,
    "waiting": Doing.WAITING,
    "idle": Doing.IDLE,
    "shell": Doing.IDLE,
}

HELD: dict[Turn, frozenset[Turn]] = {
    Turn.COMPACTING: frozenset({Turn.TOOL_DONE}),
}
"""Words that do not replace the one they come after: a tool that ends late does not end a running
compaction (accident S2)."""

ALL = frozenset(Turn)
NONE: frozenset[Turn] = frozenset()
RESTED = frozenset({Turn.STOPPED, Turn.FAILED})

HOOK_STANDS: dict[tuple[str, bool], frozenset[Turn]] = {
    # (registry's status, hook is newer): the hook's words that stand against it.
    # The registry is a level, rewritten at every change; a hook is an edge, and some edges have none.
    ("busy", True): ALL,  # with a background subagent, Stop comes seconds before the registry leaves busy
    ("busy", False): NONE,  # a dialog was answered, or a turn began that no hook told of
    ("waiting", True): NONE,  # another tool of the same turn may end while the dialog is open (S3)
    ("waiting", False): NONE,
    ("idle", True): ALL,  # the registry follows within 0.1 s
    ("idle", False): RESTED,  # Esc fires no hook; but a turn that ended stays done until somebody looks
    ("shell", True): ALL,
    ("shell", False): RESTED,
}


def newer(new: Turned, old: Turned | None, now: float) -> bool:
    """Whether a hook's word replaces the one before it."""
    if old is None:
        return True
    if new.turn in HELD.get(old.turn, NONE):
        return False
    return (new.at, TURN_RANK[new.turn]) > (counted(old.at, now), TURN_RANK[old.turn])


class Contest(Struct, frozen=True):
    """Both words, and which of them stands."""

    hook: Turned | None
    registry: RegistryStatus | None
    hook_stands: bool
    why: str = ""


def weigh(hook: Turned | None, registry: RegistryStatus | None) -> Contest:
    if hook is None or registry is None:
        return Contest(hook, registry, registry is None)
    hook_newer = hook.at >= registry.at
    stands = HOOK_STANDS.get((registry.status, hook_newer), ALL)
    if hook.turn in stands:
        return Contest(hook, registry, True, "the hook is newer" if hook_newer else "the hook says more")
    return Contest(
        hook,
        registry,
        False,
        "the registry is rewritten at every change" if hook_newer else "the registry is newer",
    )


def judge(hook: Turned | None, registry: RegistryStatus | None, before: Activity) -> Activity:
    contest = weigh(hook, registry)
    if contest.hook_stands and hook is not None:
        return _by_hook(hook, before)
    return before if registry is None else _by_registry(registry, hook, before)


def _since(doing: Doing, waiting_on: WaitingOn | None, at: float, before: Activity) -> float:
    same = doing is before.doing and waiting_on is before.waiting_on
    return before.since if same and before.since else at


def _by_hook(hook: Turned, before: Activity) -> Activity:
    doing = BY_TURN[hook.turn]
    return Activity(
        doing=doing,
        since=_since(doing, hook.waiting_on, hook.at, before),
        waiting_on=hook.waiting_on,
        label=hook.label,
        failure=hook.failure,
        source=hook.source,
        because=hook.event,
        at=hook.at,
    )


def _by_registry(registry: RegistryStatus, hook: Turned | None, before: Activity) -> Activity:
    doing = BY_STATUS.get(registry.status, Doing.UNKNOWN)
    if hook is not None and hook.at < registry.rested:
        hook = None  # of an earlier turn, whose end no hook told: Esc
    asked = hook is not None and hook.turn is Turn.ASKED
    busy = hook is not None and hook.turn in (Turn.TOOL, Turn.TOOL_DONE, Turn.ASKED)
    waiting_on = registry.waiting_on if doing is Doing.WAITING else None
    if doing is Doing.WAITING and asked and hook is not None and hook.waiting_on is not None:
        waiting_on = hook.waiting_on  # the hook knows a plan from a permission
    return Activity(
        doing=doing,
        since=_since(doing, waiting_on, registry.at, before),
        waiting_on=waiting_on,
        label=hook.label if hook is not None and busy and doing in (Doing.WORKING, Doing.WAITING) else None,
        source=registry.source,
        because=f"status={registry.status}",
        at=registry.at,
    )
