"""Attribution: whose leftover a process is, by the marks that it carries. Only where that is certain.

Rules of this file
  1. A mark counts for a dead process that hosted the conversation it names, and only if its carrier started while
     that process lived: numbers and conversations are used again, moments are not.
  2. Where the mark names the agent's pid it must be that process's. Where it names only a conversation, exactly
     one of the processes that hosted it may have lived then.
  3. Carrying the marks of two dead agents, one inside the other, a process is the inner one's.

Not here: reading environments (system/processes), what an agent is (agents/), the tree (daemon/descendants.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from headcount.core.identity import ProcessIdentity
from headcount.core.session import IN_A_LIVING_PROCESS, EndKind, Session, SessionId

TICK = 1


@dataclass(frozen=True, slots=True)
class Life:
    """One agent process: what it hosted, and from when to when it lived, in ticks since boot."""

    session: SessionId  # the last that it hosted
    process: ProcessIdentity
    hosted: frozenset[tuple[str, str]]  # agent and conversation
    since: int
    until: int | None  # None: it lives

    def had(self, moment: int) -> bool:
        return self.since <= moment and (self.until is None or moment <= self.until)


@dataclass(frozen=True, slots=True)
class Carried:
    """What one mark in an environment says."""

    agent: str
    conversation: str
    pid: int | None  # None: that agent, or that version of it, names none
    variables: str  # which they were, for the evidence


def lives(sessions: Iterable[Session], boot: str, ended_in_ticks: dict[ProcessIdentity, int]) -> list[Life]:
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
        found.append(Life(last.id, process, names, process.started, until))
    return [_cut(life, found) for life in found]


def is_dead(session: Session) -> bool:
    """By proof, in this boot: what it left may still be there."""
    kind = session.ended.kind if session.ended is not None else None
    return kind not in (None, EndKind.REPORTED, EndKind.REBOOTED) and kind not in IN_A_LIVING_PROCESS


def whose(marks: Iterable[Carried], started: int, known: Iterable[Life]) -> tuple[Life, Carried] | None:
    """The dead process that left it, and the mark that says so; None: it is nobody's, or not certainly."""
    everyone = list(known)
    found: list[tuple[Life, Carried]] = []
    for mark in marks:
        fits = [
            life
            for life in everyone
            if (mark.agent, mark.conversation) in life.hosted
            and mark.pid in (None, life.process.pid)
            and life.had(started)
        ]
        if len(fits) == 1 and fits[0].until is not None:
            found.append((fits[0], mark))
    return max(found, key=lambda each: each[0].since, default=None)


def _cut(life: Life, everyone: list[Life]) -> Life:
    """A number has one owner at a time: the next one's start is after this one's end."""
    later = [
        other.since
        for other in everyone
        if other.process.pid == life.process.pid and other.since > life.since
    ]
    if not later or life.until is None:
        return life
    until = min(life.until, min(later) - TICK)
    return Life(life.session, life.process, life.hosted, life.since, until)
