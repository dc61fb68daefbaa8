"""Lanes: what each session did over a stretch of time, read off the journal.

Rules
  1. A span is what was believed then; it ends where the belief changed. Nothing is filled in between.
  2. While headcount was not running nothing was seen: such a stretch is blind, and no span goes through it. What
     lies before its very first start is blind too.
  3. A session that changed nothing within the stretch is drawn by what it was before it. One of which nothing was
     ever heard is drawn as that: its life is known, what it does is not.

Not here: reading the journal (daemon/routes/timeline.py), drawing (the faces).
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from headcount.core.values.activity import Activity, Doing
from headcount.core.values.events import Event, EventType
from headcount.core.values.session import Ended, Session, SessionId


class Span(Struct, frozen=True):
    since: float
    to: float
    activity: Activity

    @property
    def length(self) -> float:
        return self.to - self.since


class HeldPeriod(Struct):
    item: str
    fence: int
    since: float
    to: float | None = None
    because: str | None = None


class Lane(Struct):
    session: SessionId
    spans: list[Span] = field(default_factory=list)
    claims: list[HeldPeriod] = field(default_factory=list)
    ended: Ended | None = None


class _Pen(Struct):
    """Draws one lane: what it does now, and since when that is drawn."""

    lane: Lane
    since: float
    activity: Activity | None  # None: nothing is known, or it is over

    def draw_to(self, at: float) -> None:
        if self.activity is not None and at > self.since:
            self.lane.spans.append(Span(self.since, at, self.activity))
        self.since = max(self.since, at)


class Lanes(Struct):
    since: float
    to: float
    lanes: dict[SessionId, Lane] = field(default_factory=dict)
    blind: list[tuple[float, float]] = field(default_factory=list)
    _pens: dict[SessionId, _Pen] = field(default_factory=dict)

    def begin(self, session: Session, activity: Activity) -> None:
        """A session as it was when the stretch began, or when it began itself."""
        lane = self.lanes.setdefault(session.id, Lane(session.id))
        since = max(self.since, session.started_at)
        self._pens.setdefault(session.id, _Pen(lane, since, activity))

    def held_before(self, session: SessionId, item: str, fence: int) -> None:
        """A claim that was granted before the stretch and is held still."""
        self.lanes.setdefault(session, Lane(session)).claims.append(HeldPeriod(item, fence, self.since))

    def take(self, event: Event) -> None:
        at = min(max(event.at, self.since), self.to)
        if event.type is EventType.HEADCOUNT_STARTED:
            self._was_blind(event.facts.get("blind_since"), at)
        elif event.claim is not None:
            self._claim(event, at)
        elif event.session is not None:
            self._session(event.session, event, at)

    def finish(self) -> None:
        for pen in self._pens.values():
            pen.draw_to(self.to)

    def _session(self, id: SessionId, event: Event, at: float) -> None:
        lane = self.lanes.setdefault(id, Lane(id))
        pen = self._pens.setdefault(id, _Pen(lane, at, None))
        if event.type is EventType.SESSION_STARTED and pen.activity is None:
            pen.since, pen.activity = at, Activity()
        ended = event.delta.get("ended")
        if ended is not None:
            pen.draw_to(min(max(ended.at, self.since), at))
            pen.activity, lane.ended = None, ended
        elif "ended" in event.delta:
            lane.ended = None  # it was only reported, and was wrong
        if ended is None and "activity" in event.delta:
            pen.draw_to(at)
            pen.activity = event.delta["activity"]

    def _claim(self, event: Event, at: float) -> None:
        if event.session is None or event.claim is None:
            return
        held = self.lanes.setdefault(event.session, Lane(event.session)).claims
        if event.type is EventType.CLAIM_GRANTED:
            held.append(HeldPeriod(event.claim.item, event.claim.fence, at))
            return
        known = next((each for each in held if each.fence == event.claim.fence and each.to is None), None)
        if known is None:
            known = HeldPeriod(event.claim.item, event.claim.fence, max(self.since, event.claim.since))
            held.append(known)
        because = event.facts.get("because")
        known.to, known.because = at, because if isinstance(because, str) else None

    def _was_blind(self, since: object, at: float) -> None:
        """`since`: the last that was seen before; of the very first start nothing is."""
        since = max(self.since, float(since)) if isinstance(since, float | int) else self.since
        if since >= at:
            return
        self.blind.append((since, at))
        for pen in self._pens.values():
            pen.draw_to(since)
            pen.since = max(pen.since, at)


def activity_before(events: Iterable[Event]) -> Mapping[SessionId, Activity]:
    """The last that was said of each session in a stretch."""
    return {
        event.session: event.delta["activity"]
        for event in events
        if event.session is not None and "activity" in event.delta
    }


def waits(lane: Lane) -> list[Span]:
    """The stretches in which it waited for its user, those that touch put together."""
    found: list[Span] = []
    for span in lane.spans:
        if span.activity.doing is not Doing.WAITING or span.length <= 0:
            continue
        if found and found[-1].to == span.since:
            found[-1] = Span(found[-1].since, span.to, span.activity)
        else:
            found.append(span)
    return found


def times(spans: Iterable[Span]) -> int:
    """How many waits they are: one that went on while nobody looked is one."""
    return len({span.activity.since for span in spans})


def covered(spans: Iterable[Span]) -> float:
    """How long at least one of them went on."""
    total, reached = 0.0, float("-inf")
    for span in sorted(spans, key=lambda each: each.since):
        total += max(0.0, span.to - max(span.since, reached))
        reached = max(reached, span.to)
    return total
