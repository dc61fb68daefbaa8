"""Events: what became true, numbered in order; and effects: what the daemon must do after a commit.

Rules
  1. An event carries what it changed (`delta`: field of the session -> its new value), so the rows follow
     from the events and from nothing else.
  2. Sequence numbers grow by one, and each is given once.
  3. An event without a session or a claim is about headcount itself.
  4. A claim's event carries the claim as it was held; its row follows from that alone. A leftover's event
     carries its row.
  5. An effect is a value. Deciding creates it, the daemon runs it after the commit, and its outcome returns
     as evidence.
  6. Running an effect twice does no harm.

Not here: why something became true (core/decide.py), how events are stored (store/) or shown
  (daemon/views/session_row.py).
"""

from msgspec import Struct, field
from msgspec.structs import replace

from headcount.core.values.claim import Claim, Freed, freed
from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.item import Item
from headcount.core.values.leftover import Leftover
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Changes, Session, SessionId


class EventType(FastEnum):
    SESSION_STARTED = "session.started"
    SESSION_BOUND = "session.bound"  # its process was learned, or re-proved
    SESSION_DOUBTED = "session.doubted"  # its process cannot be asked now
    SESSION_ACTIVITY = "session.activity"
    SESSION_CHANGED = "session.changed"  # name, directory, background work, notes
    SESSION_HEARD = "session.heard"  # a sign of life that changed nothing else
    SESSION_LOST = "session.lost"
    SESSION_ENDED = "session.ended"
    SESSION_EXAMINED = "session.examined"  # what its end freed and left was looked for, all of it
    SESSION_CLOSING = "session.closing"  # it has been idle for long, and will be closed
    SESSION_REOPENED = "session.reopened"  # an end that was only reported was wrong
    ALARM_RAISED = "alarm.raised"
    ALARM_CLEARED = "alarm.cleared"
    CLAIM_GRANTED = "claim.granted"
    CLAIM_RELEASED = "claim.released"  # facts: because (claim.Freed), by
    LEFTOVER_FOUND = "leftover.found"
    LEFTOVER_CHANGED = "leftover.changed"  # more is known of it
    LEFTOVER_GONE = "leftover.gone"
    ENDING_INTENDED = "ending.intended"  # written before a signal is sent
    ENDING_FINISHED = "ending.finished"  # what came of it
    HEADCOUNT_STARTED = "headcount.started"
    HEADCOUNT_STOPPED = "headcount.stopped"
    STORE_LOST = "store.lost"
    LOSS_ACCEPTED = "store.loss-accepted"  # the operator lets claims be granted again
    FLEET_JOINED = "fleet.joined"
    FLEET_LEFT = "fleet.left"
    FLEET_AWAY = "fleet.away"  # our lease ran out: shared claims are not vouched for
    FLEET_BACK = "fleet.back"


class Event(Struct, frozen=True):
    seq: int
    at: float
    type: EventType
    session: SessionId | None = None
    delta: Changes = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)  # plain JSON
    claim: Claim | None = None  # as it was held, in events of a claim
    leftover: Leftover | None = None  # as it is after the event

    @property
    def item(self) -> Item | None:
        return self.claim.item if self.claim else None


def apply(session: Session | None, event: Event) -> Session:
    """The session after the event. A start makes one; every other event changes one."""
    if event.type is EventType.SESSION_STARTED:
        assert event.session is not None
        return Session(id=event.session, **event.delta)
    if session is None:
        raise ValueError(f"event {event.seq} ({event.type.value}) is of a session that never started")
    return replace(session, **event.delta)


def apply_claim(event: Event) -> Claim:
    """The item's row after the event."""
    assert event.claim is not None
    if event.type is EventType.CLAIM_RELEASED:
        return freed(event.claim, Freed(event.facts["because"]), event.at)
    return event.claim


class Watch(Struct, frozen=True):
    """Tell when this process ends; if it is over already, tell that."""

    process: ProcessIdentity


Effect = Watch
