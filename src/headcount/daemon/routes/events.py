"""The event stream and the history behind it.

Rules
  1. A stream starts with a snapshot, or, with Last-Event-ID, with what was missed; then come deltas.
  2. Subscribe first, read afterwards, so that nothing falls between.
  3. On a silent stream a comment comes now and then, as often as `every` asks, so that silence means something.
  4. An id that the journal no longer has, or never had, gets a snapshot instead; so does a reader that has fallen behind, on
     the stream that it has.

Not here: who is told what (daemon/engine/broadcast.py).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import msgspec

from headcount.core.values.events import EventType
from headcount.core.values.session import SessionId
from headcount.daemon.api.route import Call
from headcount.daemon.components import Components, sessions_shown
from headcount.daemon.engine.broadcast import PIECE, Subscriber, frame_of
from headcount.daemon.http.answer import HttpStream
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.views.session_row import event_row, session_row
from headcount.times import STREAM_PING_EVERY
from headcount.wire.events import History, Snapshot

RESUME_MOST = (
    200_000  # many times what a reader misses by a break; further back a snapshot is the better answer
)
RESUME_PAGE = 32  # events read and sent at a time: what a reader that stops reading then keeps
PAGE_MOST = 10_000
PRESENT = b": still here\n\n"
DISMISSED = (
    b"event: closed\ndata: {}\n\n"  # the page was closed, or ends with the daemon: not to be asked for again
)


async def stream_events(call: Call) -> object:
    last = call.header("last-event-id") or call.text("after")
    if last is not None and (not last.isascii() or not last.isdigit() or len(last) > 15):
        raise HttpRefusal(400, "bad-parameter", "Last-Event-ID must be a sequence number.")
    every = min(max(call.number("every", int(STREAM_PING_EVERY)), 1), int(STREAM_PING_EVERY))
    is_page = call.loopback is not None
    frames = _frames(call.parts, int(last) if last is not None else None, every, is_page=is_page)
    headers = ((b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))
    return HttpStream(frames, "text/event-stream; charset=utf-8", headers)


async def _frames(
    parts: Components, last: int | None, every: int, *, is_page: bool
) -> AsyncGenerator[bytes, None]:
    subscriber = parts.broadcast.subscribe(is_page=is_page)
    try:
        seq = parts.loop.world.seq
        if last is None or not await _is_kept(parts, last, seq):
            subscriber.lose()
        else:
            async for frames in _missed(parts, last, seq):
                yield frames
        async for frames in _live(parts, subscriber, every):
            yield frames
    finally:
        parts.broadcast.unsubscribe(subscriber)


async def _live(parts: Components, subscriber: Subscriber, every: int) -> AsyncIterator[bytes]:
    while True:
        if not subscriber.is_caught_up():
            for piece in _snapshot(parts):
                yield piece
        frames = await subscriber.take(every)
        if frames is None:
            break
        if frames or not subscriber.behind:
            yield frames or PRESENT
    if subscriber.dismissed:
        yield DISMISSED


async def _is_kept(parts: Components, last: int, seq: int) -> bool:
    """Whether the journal has all that came after that number; if not, a snapshot must tell."""
    if last > seq or seq - last > RESUME_MOST:
        return False
    return last == seq or await parts.store.oldest() <= last + 1


async def _missed(parts: Components, last: int, seq: int) -> AsyncIterator[bytes]:
    while last < seq:
        events = await parts.store.history(after=last, until=seq, limit=RESUME_PAGE)
        if events:
            yield b"".join(frame_of(event, parts.loop.world) for event in events)
        # none: a page of types that only a newer version knows; numbers have no gaps
        last = events[-1].seq if events else last + RESUME_PAGE


def _snapshot(parts: Components) -> Iterator[bytes]:
    """Encoded as it is read: a reader that pauses inside keeps the ids of what is left, and no rows. A row that it comes
    to later is newer than `seq`; the events since, which follow, end with the same picture."""
    seq = parts.loop.world.seq
    head, tail = msgspec.json.encode(Snapshot(seq=seq, sessions=[])).split(b"]")
    piece, comma = b"id: %d\nevent: snapshot\ndata: %s" % (seq, head), b""
    for id in [session.id for session in sessions_shown(parts, ended=False)]:
        if (row := _row(parts, id)) is not None:
            piece, comma = piece + comma + row, b","
        if len(piece) >= PIECE:
            yield piece
            piece = b""
    yield b"%s]%s\n\n" % (piece, tail)


def _row(parts: Components, id: SessionId) -> bytes | None:
    """Encoded once for all readers who ask before something happens. None: it has ended meanwhile."""
    world, rows = parts.loop.world, parts.broadcast.rows
    session = world.sessions.get(id)
    if session is None or not session.is_open:
        return None
    key = world.seq, id
    if key not in rows:
        rows[key] = msgspec.json.encode(session_row(session, world))
    return rows[key]


async def history(call: Call) -> History:
    parts = call.parts
    session = call.text("session")
    types = _types(call.texts("type"))
    since = call.number("since", 0)
    events = await parts.store.history(
        after=call.number("after", 0),
        limit=min(call.number("limit", 1000), PAGE_MOST),
        session=session,
        types=types,
        since=float(since) if since else None,
        newest=call.flag("newest"),
    )
    return History(
        events=[event_row(event, parts.loop.world) for event in events], oldest=await parts.store.oldest()
    )


def _types(wanted: list[str]) -> tuple[str, ...]:
    """An empty answer to a slip would read as "it never happened"."""
    known = [each.value for each in EventType]
    strange = next((each for each in wanted if each not in known), None)
    if strange is not None:
        raise HttpRefusal(
            400, "bad-parameter", f'No event is of type "{strange[:60]}".', f"There are: {', '.join(known)}"
        )
    return tuple(wanted)
