"""Attribution: whose leftover a process is, by the marks that it carries. Only where that is certain.

Rules
  1. A mark counts for a dead process that hosted the conversation it names, and only if its carrier started while
     that process lived: numbers and conversations are used again, moments are not.
  2. Where the mark names the agent's pid it must be that process's. Where it names only a conversation, exactly
     one of the processes that hosted it may have lived then, and its end must have been seen: of one that ended
     while nobody looked it is not known until when it lived.
  3. A token's file is one process's and is never given to another: whoever carries it comes from there, also when
     that process ended unseen.
  4. Carrying the marks of two agents, one inside the other, a process is the inner one's; and nobody's leftover as long
     as that one lives.

Not here: reading environments (system/processes), what an agent is (agents/), the tree (daemon/leftovers/descendants.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.session import IN_A_LIVING_PROCESS, EndKind, Session, SessionId

TICK = 1
NO_TOKENS: Mapping[str, ProcessIdentity] = MappingProxyType({})


class ProcessLifetime(Struct, frozen=True):
    """One agent process: what it hosted, and from when to when it lived, in ticks since boot."""

    session: SessionId  # the last that it hosted
    process: ProcessIdentity
    hosted: frozenset[tuple[str, str]]  # agent and conversation
    since: int
    until: int | None  # None: it lives
    away: bool = False  # it ended unseen: `until` is only when that was noticed

    def had(self, moment: int) -> bool:
        return self.since <= moment and (self.until is None or moment <= self.until)


class Carried(Struct, frozen=True):
    """What one mark in an environment says."""

    agent: str
    conversation: str
    pid: int | None  # None: that agent, or that version of it, names none
    variables: str  # which they were, for the evidence
    is_token: bool = False  # then `conversation` is the token's file


LAUNCH = "launch"
"""In place of an agent, for a token's file."""

Known = Mapping[tuple[str, str], Sequence[ProcessLifetime]]
"""Lives by the conversations that they hosted and the files of their tokens: a machine has thousands, and each carrier
asks."""


def by_mark(everyone: Iterable[ProcessLifetime], tokens: Mapping[str, ProcessIdentity] = NO_TOKENS) -> Known:
    known: dict[tuple[str, str], list[ProcessLifetime]] = {}
    by_pid: dict[int, list[ProcessLifetime]] = {}
    for life in everyone:
        by_pid.setdefault(life.process.pid, []).append(life)
        for hosted in life.hosted:
            known.setdefault(hosted, []).append(life)
    for file, process in tokens.items():
        owners = by_pid.get(process.pid, ())
        known[LAUNCH, file] = [each for each in owners if same_process(each.process, process) is Match.SAME]
    return known


def lives(
    sessions: Iterable[Session], boot: str, ended_in_ticks: dict[ProcessIdentity, int]
) -> list[ProcessLifetime]:
    """Of all processes of this boot that sessions are bound to. A dead one whose end is not given is left out, and
    nothing is attributed to it."""
    by_process: dict[ProcessIdentity, list[Session]] = {}
    for session in sessions:
        process = session.process
        if process is not None and process.boot == boot and process.started is not None:
            by_process.setdefault(process, []).append(session)
    found = []
    for process, hosted in by_process.items():
        assert process.started is not None
        over = not any(each.is_open for each in hosted)
        if over and process not in ended_in_ticks:
            continue
        last = max(hosted, key=lambda each: (each.is_open, each.hosted_at, each.started_at))
        names = frozenset((each.agent, each.conversation) for each in hosted if each.conversation)
        until = ended_in_ticks[process] if over else None
        away = over and last.ended is not None and last.ended.away
        found.append(ProcessLifetime(last.id, process, names, process.started, until, away))
    return _cut(found)


def is_dead(session: Session) -> bool:
    """By proof, in this boot: what it left may still be there."""
    kind = session.ended.kind if session.ended is not None else None
    return kind not in (None, EndKind.REPORTED, EndKind.REBOOTED) and kind not in IN_A_LIVING_PROCESS


def whose(marks: Iterable[Carried], started: int, known: Known) -> tuple[ProcessLifetime, Carried] | None:
    """The dead process that left it, and the mark that says so; None: it is nobody's, or not certainly."""
    found: list[tuple[ProcessLifetime, Carried]] = []
    living = -1  # since when the youngest has lived that it may belong to
    for mark in marks:
        fits = [
            life
            for life in known.get((mark.agent, mark.conversation), ())
            if mark.pid in (None, life.process.pid) and life.had(started)
        ]
        living = max((living, *(life.since for life in fits if life.until is None)))
        if len(fits) == 1 and fits[0].until is not None and not _is_doubtful(fits[0], mark):
            found.append((fits[0], mark))
    left = max(found, key=lambda each: each[0].since, default=None)
    return left if left is not None and left[0].since > living else None


def _is_doubtful(life: ProcessLifetime, mark: Carried) -> bool:
    return mark.pid is None and life.away and not mark.is_token


def _cut(everyone: list[ProcessLifetime]) -> list[ProcessLifetime]:
    """A number has one owner at a time: the next one's start is after this one's end."""
    starts: dict[int, set[int]] = {}
    for life in everyone:
        starts.setdefault(life.process.pid, set()).add(life.since)
    after = {(pid, since): later for pid, each in starts.items() for since, later in pairwise(sorted(each))}
    return [_before(life, after.get((life.process.pid, life.since))) for life in everyone]


def _before(life: ProcessLifetime, later: int | None) -> ProcessLifetime:
    if later is None or life.until is None:
        return life
    return replace(life, until=min(life.until, later - TICK))
