"""The timeline: lanes of sessions over a stretch of time, and how long agents waited today.

Rules
  1. The journal is read on the read-only connection, in pages, and never more than one picture needs.
  2. Both answers come from the same lanes (core/timeline.py): what is coloured as waiting is what is counted.

Not here: what a span is (core/timeline.py), drawing (web/static).
"""

import time

from headcount.core.timeline import HeldPeriod, Lane, Lanes, Span, activity_before, covered, times, waits
from headcount.core.values.activity import Activity
from headcount.core.values.events import Event, EventType
from headcount.core.values.session import SessionId
from headcount.daemon.api.route import Call
from headcount.daemon.components import Components
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.views.session_row import LIVENESS_WORDS, ended_row, hosted_by, time_text
from headcount.times import DAY, TIMELINE_MOST, TIMELINE_SPAN
from headcount.wire import timeline as wire

READ_MOST = 20_000  # events of one picture
BEFORE_MOST = 5_000  # events looked back at for what each session did when the picture begins

TELLING = (
    "session.started",
    "session.activity",
    "session.changed",
    "session.bound",
    "session.ended",
    "session.reopened",
    "claim.granted",
    "claim.released",
    "headcount.started",
)
STARTS = ("headcount.started",)
CHANGING = ("session.started", "session.activity", "session.changed", "session.bound")


async def show_timeline(call: Call) -> wire.Timeline:
    now = call.parts.clock.now()
    to = min(float(call.number("until", int(now) + 1)), now)
    since = float(call.number("since", int(now - TIMELINE_SPAN)))
    if since >= to:
        raise HttpRefusal(400, "bad-parameter", "since must lie before until, and before now.")
    since = max(since, to - TIMELINE_MOST)
    wanted = call.text("session")
    one = call.select(wanted).id if wanted else None
    drawn, whole = await _drawn(call.parts, since, to, one)
    lanes = [lane for lane in drawn.lanes.values() if lane.spans or lane.claims or lane.ended]
    return wire.Timeline(
        since=time_text(since),
        to=time_text(to),
        lanes=[_lane(call.parts, lane) for lane in lanes if _is_known(call.parts, lane)],
        blind=[wire.Blind(since=time_text(a), to=time_text(b)) for a, b in drawn.blind],
        whole=whole,
    )


async def show_today(call: Call) -> wire.Today:
    now = call.parts.clock.now()
    since = float(call.number("since", 0)) or _midnight(now)
    if since > now:
        raise HttpRefusal(400, "bad-parameter", "since must not lie in the future.")
    since = max(since, now - DAY)
    drawn, _ = await _drawn(call.parts, since, now)
    waited = {lane.session: waits(lane) for lane in drawn.lanes.values()}
    rows = [_waited(call.parts, id, spans) for id, spans in waited.items() if spans]
    all_spans = [span for spans in waited.values() for span in spans]
    return wire.Today(
        since=time_text(since),
        waited_s=round(sum(span.length for span in all_spans), 3),
        any_s=round(covered(all_spans), 3),
        waits=sum(times(spans) for spans in waited.values()),
        waiting_now=sum(1 for spans in waited.values() if spans and spans[-1].to >= now),
        sessions=sorted(rows, key=lambda row: -row.seconds),
    )


async def _drawn(
    parts: Components, since: float, to: float, one: SessionId | None = None
) -> tuple[Lanes, bool]:
    last = await _last_before(parts, to)
    events = await parts.store.history(
        since=since, until=last, types=TELLING, limit=READ_MOST, newest=True, session=one
    )
    if one is not None:  # starts are of no session
        starts = await parts.store.history(
            since=since, until=last, types=STARTS, limit=READ_MOST, newest=True
        )
        events = sorted([*events, *starts], key=lambda event: event.seq)
    drawn, whole = Lanes(since, to), len(events) < READ_MOST
    if not whole:
        drawn.since = events[0].at
    before = await parts.store.history(
        until=events[0].seq - 1 if events else last,
        types=CHANGING,
        limit=BEFORE_MOST,
        newest=True,
        session=one,
    )
    _begin(parts, drawn, events, before, one)
    for event in events:
        drawn.take(event)
    drawn.finish()
    return drawn, whole


async def _last_before(parts: Components, to: float) -> int:
    """The number of the last event of the picture: what happened later is not to be read, nor to fill it."""
    later = await parts.store.history(since=to, limit=1)
    return later[0].seq - 1 if later else parts.loop.world.seq


def _begin(
    parts: Components, drawn: Lanes, events: list[Event], before: list[Event], one: SessionId | None
) -> None:
    """Every session that lived when the picture begins, as it was then, and what it held."""
    world, then, changed = parts.loop.world, activity_before(before), activity_before(events)
    is_all = len(before) < BEFORE_MOST  # who is not in there was never heard of
    found = {event.session for event in events if event.type is EventType.SESSION_STARTED}
    for session in world.sessions.values():
        if (one is not None and session.id != one) or session.started_at > drawn.since or session.id in found:
            continue
        if session.ended is not None and session.ended.at < drawn.since:
            continue
        activity = then.get(session.id)
        if activity is None and session.id not in changed:
            activity = session.activity
        if activity is None and is_all:
            activity = Activity()
        if activity is not None:
            drawn.begin(session, activity)
    for claim in world.book.holding():
        holder = hosted_by(claim, world) if claim.since < drawn.since else None
        if holder is not None and one in (None, holder.id):
            drawn.held_before(holder.id, claim.item, claim.fence)


def _lane(parts: Components, lane: Lane) -> wire.Lane:
    session = parts.loop.world.sessions[lane.session]
    return wire.Lane(
        session=session.id,
        agent=session.agent,
        name=session.name,
        cwd=session.cwd,
        liveness=LIVENESS_WORDS[session.liveness],
        activity=session.activity.doing.value,
        spans=[_span(span) for span in lane.spans],
        claims=[_held(held) for held in lane.claims],
        ended=ended_row(lane.ended) if lane.ended else None,
    )


def _is_known(parts: Components, lane: Lane) -> bool:
    """Old sessions are retired; what the journal still says of them is of nobody."""
    session = parts.loop.world.sessions.get(lane.session)
    return session is not None and not (session.provisional and session.is_open)


def _span(span: Span) -> wire.Span:
    return wire.Span(
        since=time_text(span.since),
        to=time_text(span.to),
        activity=span.activity.doing.value,
        waiting_on=span.activity.waiting_on.value if span.activity.waiting_on else None,
        doing=span.activity.label,
    )


def _held(held: HeldPeriod) -> wire.HeldSpan:
    return wire.HeldSpan(
        item=held.item,
        fence=held.fence,
        since=time_text(held.since),
        to=None if held.to is None else time_text(held.to),
        because=held.because,
    )


def _waited(parts: Components, id: SessionId, spans: list[Span]) -> wire.Waited:
    session = parts.loop.world.sessions.get(id)
    return wire.Waited(
        session=id,
        name=session.name if session else None,
        times=times(spans),
        seconds=round(sum(span.length for span in spans), 3),
    )


def _midnight(now: float) -> float:
    """Of the daemon's own clock; a face elsewhere says what its own is."""
    then = time.localtime(now)
    return time.mktime((then.tm_year, then.tm_mon, then.tm_mday, 0, 0, 0, 0, 0, -1))
