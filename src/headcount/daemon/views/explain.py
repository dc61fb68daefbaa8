"""Explanations: what is believed of a session, on which evidence, and which evidence lost.

Rules
  1. Every belief has a value, a sentence, a code, a source and a time. A code never changes; sentences may.
  2. Evidence that was offered and not taken is listed with the reason.

Not here: the judging itself (core/values/activity.py, core/values/verdict.py); this only retells it.
"""

from headcount.agents.catalog import AGENTS
from headcount.core.state.world import World
from headcount.core.values.activity import BY_STATUS, BY_TURN, Doing, RegistryStatus, Turned, weigh
from headcount.core.values.session import Liveness, Session
from headcount.core.values.verdict import Standing, Verdict
from headcount.daemon.views.session_row import LIVENESS_WORDS, session_row, time_text
from headcount.wire.sessions import Belief, EvidenceLine, Explanation

WOULD_CHANGE = {
    Doing.WORKING: [
        "exit",
        "a permission request or question",
        "the end of the turn",
        "Esc (by its {source})",
    ],
    Doing.WAITING: ["exit", "the tool's result", "{source} idle"],
    Doing.DONE: ["exit", "the next prompt"],
    Doing.FAILED: ["exit", "the next prompt"],
    Doing.IDLE: ["exit", "the next prompt"],
    Doing.UNKNOWN: ["exit", "any report", "its {source}"],
}
"""`{source}`: what corrects an agent's hooks. Of an agent that has none of the kind those words are left out."""

UNCODED = "not-taken"  # of notes that were stored before they had codes

UNTOLD = (
    "its SessionStart hook hung up before the answer was ready: the agent was not told what its conversation held "
    "before, or who works beside it"
)


def explain(
    session: Session, world: World, now: float, verdict: Verdict | None, untold_at: float | None = None
) -> Explanation:
    """`verdict`: what the kernel says of its process at this moment, when there is one to ask. `untold_at`: when the
    context of its start was not delivered."""
    activity = _activity(session)
    return Explanation(
        session=session_row(session, world),
        liveness=_liveness(session, now, verdict),
        activity=activity,
        binding=_binding(session),
        agree=all(line.stands for line in activity.evidence),
        would_change=[] if session.ended and session.ended.proven else _would_change(session),
        context=_context(untold_at) if untold_at is not None and session.is_open else None,
    )


def _context(untold_at: float) -> Belief:
    return Belief(
        value="not delivered",
        code="hung-up",
        because=UNTOLD,
        source="connection",
        at=time_text(untold_at),
        evidence=[],
    )


def _would_change(session: Session) -> list[str]:
    source = _corrector(session.agent)
    words = [
        word.format(source=source)
        for word in WOULD_CHANGE[session.activity.doing]
        if source is not None or "{source}" not in word
    ]
    if session.process is None:
        return ["its process being learned", "ten minutes of silence", *words[1:]]
    return words


def _corrector(name: str) -> str | None:
    agent = AGENTS.get(name)
    if agent is None:
        return None
    return "registry" if agent.registry is not None else "transcript" if agent.follows else None


def _liveness(session: Session, now: float, verdict: Verdict | None) -> Belief:
    value = LIVENESS_WORDS[session.liveness]
    lines = []
    because, source, at = session.liveness_because, "kernel", session.liveness_at
    code = "not-asked"
    if session.ended is not None:
        because, at, code = session.ended.because, session.ended.at, session.ended.kind.value
        source = "kernel" if session.ended.proven else "hook"
    elif verdict is not None:
        because, code = verdict.because, verdict.code
        lines.append(_line(verdict.standing.value, code, because, "kernel", now, True))
        if verdict.standing is Standing.ALIVE:
            at = now
    elif session.process is None:
        is_lost = session.liveness is Liveness.LOST
        source, code = ("clock", "nothing-heard") if is_lost else ("none", "no-process")
    if not lines:
        lines.append(_line(value, code, because, source, at, True))
    if session.leaving is not None:
        said = f"SessionEnd: {session.leaving.reason}"
        stands = session.ended is not None
        why = None if stands else "its process still lives, and only that ends it"
        lines.append(_line("leaving", "said-goodbye", said, "hook", session.leaving.at, stands, why))
    return Belief(value=value, code=code, because=because, source=source, at=time_text(at), evidence=lines)


def _activity(session: Session) -> Belief:
    activity = session.activity
    contest = weigh(session.turned, session.status)
    lines = []
    if session.turned is not None:
        stands = contest.hook_stands or _agrees(session.turned, activity.doing)
        lines.append(_hook_line(session.turned, stands, contest.why))
    if session.status is not None:
        stands = not contest.hook_stands or _fits(session.status, activity.doing)
        lines.append(_registry_line(session.status, stands, contest.why))
    lines += _stillness(session)
    at = time_text(activity.at) if activity.at else None
    return Belief(
        value=activity.doing.value,
        code=_activity_code(session, contest.hook_stands),
        because=activity.because,
        source=activity.source,
        at=at,
        evidence=lines,
    )


def _activity_code(session: Session, hook_stands: bool) -> str:
    if hook_stands and session.turned is not None:
        return _turn_code(session.turned)
    return "nothing-heard" if session.status is None else _status_code(session.status)


def _turn_code(turned: Turned) -> str:
    return f"turn-{turned.turn.value}"


def _status_code(status: RegistryStatus) -> str:
    return f"status-{status.status if status.status in BY_STATUS else 'unknown'}"


def _stillness(session: Session) -> list[EvidenceLine]:
    """What makes it `working?`: each source without a sign of work, and since when."""
    stall = session.stall
    if stall is None:
        return []
    code, written = ("no-growth", "no growth of its transcript")
    if not stall.transcript_at:
        code, written = ("no-transcript", "it writes no transcript")
    cpu = "no processor time, with what it started"
    return [
        _line("still", "no-event", "no event", "hooks, registry", stall.heard_at, True),
        _line("still", code, written, "transcript", stall.transcript_at or 0.0, True),
        _line("still", "no-cpu-time", cpu, "kernel", stall.cpu_at, True),
    ]


def _agrees(turned: Turned, doing: Doing) -> bool:
    return BY_TURN[turned.turn] is doing


def _fits(status: RegistryStatus, doing: Doing) -> bool:
    """A registry knows no `done` and no `failed`: both are idle there, and that is no disagreement."""
    said = _says(status)
    return said is doing or (said is Doing.IDLE and doing in (Doing.DONE, Doing.FAILED))


def _says(status: RegistryStatus) -> Doing:
    return BY_STATUS.get(status.status, Doing.UNKNOWN)


def _hook_line(turned: Turned, stands: bool, why: str) -> EvidenceLine:
    because = f"{turned.event} {turned.label}" if turned.label else turned.event
    says, lost = BY_TURN[turned.turn].value, None if stands else why
    return _line(says, _turn_code(turned), because, turned.source, turned.at, stands, lost)


def _registry_line(status: RegistryStatus, stands: bool, why: str) -> EvidenceLine:
    on = f' "{status.waiting_on.value}"' if status.waiting_on else ""
    because = f"status={status.status}{on}"
    says, lost = _says(status).value, None if stands else why
    return _line(says, _status_code(status), because, status.source, status.at, stands, lost)


def _binding(session: Session) -> Belief:
    lines = [
        _line(
            "not bound", note.code or UNCODED, "offered as evidence", note.source, note.at, False, note.what
        )
        for note in session.notes
    ]
    if session.process is None:
        code, because = "never-named", "no process was ever named"
        if session.notes:
            code, because = session.notes[-1].code or UNCODED, session.notes[-1].what
        return Belief(value="none", code=code, because=because, source="none", at=None, evidence=lines)
    value = f"pid {session.process.pid}"
    return Belief(
        value=value,
        code="bound",
        because=f"bound by {session.bound_by}",
        source=session.bound_by or "none",
        at=time_text(session.liveness_at),
        evidence=lines,
    )


def _line(
    says: str, code: str, because: str, source: str, at: float, stands: bool, why: str | None = None
) -> EvidenceLine:
    return EvidenceLine(
        says=says,
        code=code,
        because=because,
        source=source,
        at=time_text(at) if at else None,
        stands=stands,
        why_not=why,
    )
