"""Notices: what a person wants to be told of, once a transition.

Rules
  1. A notice is of a transition: a session began to wait, ended a long turn, died holding something, stands still,
     met another. The same state told again, by a label or a second source, is no transition.
  2. What was told is remembered (`Memory`) by the state's own beginning, so that a replay of the journal after a
     restart comes to the same, and tells nothing twice.
  3. Turns of a session inside another, and of runs that nobody sits at (`claude -p`), are nobody's business. That
     one of them died with a claim, or met another, still is.
  4. Words are cleaned here: they go to desktops and to other programs.

Not here: panes, channels (daemon/observers/notifications.py), when a turn is over (core/values/activity.py).
"""

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from headcount.clean_text import clean
from headcount.core.values.activity import Activity, Doing
from headcount.core.values.claim import Freed
from headcount.core.values.events import Event, EventType
from headcount.core.values.session import Session, SessionId
from headcount.times import HOUR, MINUTE

RUNS = frozenset({"sdk-cli", "sdk-ts", "sdk-py"})  # Claude Code's own words for runs without a person
TEXT_MOST = 300
DEATHS_KEPT = 100  # what one death frees is told in one batch


class NotificationKind(Enum):
    NEEDS_YOU = "needs-you"
    FINISHED = "finished"  # a long turn, well or not
    DIED_HOLDING = "died-holding"
    SECOND_WRITER = "second-writer"
    COLLISION = "collision"
    STALLED = "stalled"
    TEST = "test"


OF_TURNS = frozenset({NotificationKind.NEEDS_YOU, NotificationKind.FINISHED, NotificationKind.STALLED})


class Notice(Struct, frozen=True):
    seq: int
    at: float
    kind: NotificationKind
    session: SessionId | None
    title: str
    text: str


class NotifiedState(Struct, frozen=True):
    """Of one session: the state that was judged last, by its beginning, and when its turn began."""

    doing: str = ""
    waiting_on: str = ""
    since: float = 0.0
    turn_began: float = 0.0
    stalled: bool = False


class Memory(Struct):
    seq: int = 0  # the last event that was judged
    sessions: dict[str, NotifiedState] = field(default_factory=dict)
    alarms: set[str] = field(default_factory=set)  # raised and told
    died: list[str] = field(default_factory=list)  # the last sessions whose death with a claim was told


def begin(sessions: Iterable[Session], seq: int) -> Memory:
    """What is so already is told of by nobody."""
    memory = Memory(seq)
    for session in sessions:
        if session.is_open:
            memory.sessions[session.id] = _known(NotifiedState(), session.activity)
    return memory


def judge(memory: Memory, event: Event, session: Session | None, long_turn: float) -> Notice | None:
    """The notice that an event is worth, if it is; the memory is then one event further. An event that was judged
    before is worth none."""
    if event.seq <= memory.seq:
        return None
    memory.seq = event.seq
    if event.type in (EventType.ALARM_RAISED, EventType.ALARM_CLEARED):
        return _of_alarm(memory, event, session)
    if event.type is EventType.CLAIM_RELEASED:
        return _of_claim(memory, event, session)
    if event.session is None or session is None:
        return None
    if "ended" in event.delta and event.delta["ended"] is not None:
        memory.sessions.pop(event.session, None)
        return None
    made = _of_activity(memory, event, session, long_turn) if "activity" in event.delta else None
    return made or (_of_stall(memory, event, session) if "stall" in event.delta else None)


def is_unattended_turn(notice: Notice, session: Session | None) -> bool:
    """A turn of a session inside another, or of a run without a person, is not sent."""
    if session is None or notice.kind not in OF_TURNS:
        return False
    return session.parent is not None or session.entrypoint in RUNS


# --- by what happened ------------------------------------------------------------------------------


def _of_activity(memory: Memory, event: Event, session: Session, long_turn: float) -> Notice | None:
    activity: Activity = event.delta["activity"]
    assert event.session is not None
    before = memory.sessions.get(event.session, NotifiedState())
    after = _known(before, activity)
    memory.sessions[event.session] = after
    if (after.doing, after.waiting_on, after.since) == (before.doing, before.waiting_on, before.since):
        return None
    if activity.doing is Doing.WAITING:
        on = activity.waiting_on.value if activity.waiting_on else "you"
        return _notice(
            event, NotificationKind.NEEDS_YOU, session, "needs you", _label(f"waits on {on}", activity)
        )
    if activity.doing in (Doing.DONE, Doing.FAILED) and before.turn_began:
        took = activity.since - before.turn_began
        if took < long_turn:
            return None
        well = activity.doing is Doing.DONE
        ended = (
            "has finished"
            if well
            else f"was stopped by {'a limit' if activity.failure == 'limit' else 'an error'}"
        )
        return _notice(
            event, NotificationKind.FINISHED, session, ended, _label(f"after {_minutes(took)}", activity)
        )
    return None


def _known(before: NotifiedState, activity: Activity) -> NotifiedState:
    """A turn goes on through its questions, and is over when it rests."""
    at_work = activity.doing in (Doing.WORKING, Doing.WAITING)
    began = (before.turn_began or activity.since) if at_work else 0.0
    waiting_on = activity.waiting_on.value if activity.waiting_on else ""
    return NotifiedState(activity.doing.value, waiting_on, activity.since, began, before.stalled)


def _of_stall(memory: Memory, event: Event, session: Session) -> Notice | None:
    assert event.session is not None
    before, stalled = memory.sessions.get(event.session, NotifiedState()), event.delta["stall"] is not None
    memory.sessions[event.session] = replace(before, stalled=stalled)
    if not stalled or before.stalled:
        return None
    return _notice(
        event,
        NotificationKind.STALLED,
        session,
        "may be stuck",
        _label("nothing stirs in it", session.activity),
    )


def _of_claim(memory: Memory, event: Event, session: Session | None) -> Notice | None:
    """One for a death, whatever it held: the others are the same death."""
    if event.facts.get("because") != Freed.DIED.value or event.session is None or event.claim is None:
        return None
    if event.session in memory.died:
        return None
    memory.died = [*memory.died[-DEATHS_KEPT:], event.session]
    how = (
        session.ended.because if session is not None and session.ended is not None else "its process is over"
    )
    text = f"{how}; {event.claim.item} is free"
    return _notice(event, NotificationKind.DIED_HOLDING, session, "died holding a claim", text)


def _of_alarm(memory: Memory, event: Event, session: Session | None) -> Notice | None:
    """Two meet, and both rows say so: one notice."""
    key = _alarm_key(event.facts)
    if event.type is EventType.ALARM_CLEARED:
        memory.alarms.discard(key)
        return None
    if key in memory.alarms:
        return None
    memory.alarms.add(key)
    kind = (
        NotificationKind.SECOND_WRITER
        if event.facts.get("kind") == NotificationKind.SECOND_WRITER.value
        else NotificationKind.COLLISION
    )
    title = "has a second writer" if kind is NotificationKind.SECOND_WRITER else "works where another does"
    return _notice(event, kind, session, title, str(event.facts.get("alarm") or ""))


def _alarm_key(facts: dict[str, object]) -> str:
    sessions = facts.get("sessions")
    who = (
        "+".join(sorted(str(each) for each in sessions)) if isinstance(sessions, list) else facts.get("alarm")
    )
    return f"{facts.get('kind')}|{facts.get('path')}|{who}"


def _notice(event: Event, kind: NotificationKind, session: Session | None, what: str, text: str) -> Notice:
    return Notice(
        event.seq, event.at, kind, event.session, f"{_name(session, event)} {what}", clean(text)[:TEXT_MOST]
    )


def _name(session: Session | None, event: Event) -> str:
    if session is None:
        return clean(event.session)[:4] or "an agent"
    return clean(session.name)[:80] or f"{session.agent} {session.id[:4]}"


def _label(text: str, activity: Activity) -> str:
    return f"{text}: {activity.label}" if activity.label else text


def _minutes(span: float) -> str:
    minutes, left = divmod(int(span), MINUTE)
    hours, minutes = divmod(minutes, HOUR // MINUTE)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{left:02d}s" if minutes else f"{left}s"
