"""A connection: HTTP/1.1 on httptools, with deadlines for slow senders.

Rules
  1. The kernel's word on the peer is taken when the connection is made and closed with it.
  2. The gate is asked when a head is complete; who is refused is told at once, and hung up on where a body was to
     follow: nobody is answered and still being read. The others are answered when their body is whole, in the order
     in which they came.
  3. A request that does not arrive in time is closed; one that is no HTTP, or whose head or body is too large, is
     refused in the same form as by the gate.
  4. Reading never stops, so that a caller who goes is noticed: whoever sends too much ahead is refused.
  5. The timer of an idle connection is not cancelled by each request; when it is due, it looks whether anybody came.

Not here: listening (listen.py), what is allowed (request_checks.py), answering in turn (requests_in_order.py).
"""

import asyncio
import logging

import httptools

from headcount.daemon.http.answer import CLOSE, HttpAnswer
from headcount.daemon.http.request import ConnectionFacts, Pairs, Request
from headcount.daemon.http.request_checks import BODY_MOST, Gate, HttpRefusal, refusal_of, too_large
from headcount.daemon.http.requests_in_order import RequestsInOrder
from headcount.times import BODY_WITHIN, HEADERS_WITHIN, KEEP_ALIVE, LINGER

HEAD_MOST = 32 * 1024
SENT_MOST = 8 * BODY_MOST  # of one message after its head: a body in small chunks, and what may follow it
VERSIONS = frozenset({"1.0", "1.1"})
GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"

HEAD_TOO_LARGE = HttpRefusal(
    431, "head-too-large", f"A request line and its headers may have {HEAD_MOST} bytes."
)
NO_HTTP = HttpRefusal(400, "not-http", "This is not HTTP/1.1 as headcount speaks it.")
TOO_MANY = HttpRefusal(429, "too-many", "Wait for answers before you ask more.")

BUFFER = bytearray(65_536)
VIEW = memoryview(BUFFER)
"""Of all connections: what is read into it is parsed, and what is kept is copied, before anybody reads again. To have a
new one made for each read, as large as asyncio's, takes longer than to parse what came."""

log = logging.getLogger("headcount.protocol")


class HttpProtocol(asyncio.BufferedProtocol):
    transport: asyncio.Transport

    def __init__(
        self,
        gate: Gate,
        line: ConnectionFacts,
        connections: "set[HttpProtocol]",
        tasks: set[asyncio.Task[None]],
        ending: asyncio.Event,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.line = line
        self._gate = gate
        self._ending = ending  # the server's: what is in work is each connection's last
        self._connections = connections
        self._tasks = tasks
        self._loop = loop
        self._parser = httptools.HttpRequestParser(self)
        self._is_deaf = False  # it was refused for good: what else comes is not read
        # --- what is coming in
        self._url, self._headers = b"", Pairs()
        self._request: Request | None = None  # whose body is coming in; None also where it was refused
        self._body = bytearray()
        self._is_coming = False  # a request has begun and is not complete
        self._is_owed_a_word = False  # it asked whether it may send its body
        self._in_head = self._is_new = False
        self._head = 0  # bytes of this head in pieces before this one
        self._after_head = 0  # bytes of this message since
        self._piece = 0  # bytes of the piece that is being read
        # --- its timers
        self._deadline: asyncio.TimerHandle | None = None
        self._due: float | None = None  # how long what is coming in may take from its beginning
        self._parts = 0  # beginnings and ends of heads and bodies so far
        self._idle_since = 0.0
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._turns = RequestsInOrder(self._gate, self.line, transport, self._tasks, self._ending, self)
        self._connections.add(self)
        if self._ending.is_set():
            transport.close()
        self._within(HEADERS_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._within(None)
        if self._idle is not None:
            self._idle.cancel()
        del self._parser  # it knows us, as we know it: nobody would free the two
        self._request, self._headers, self._body = None, [], bytearray()
        self.line.lost.set()
        if isinstance(
            exc, OSError
        ):  # the peer closed before it had read all that we wrote (unix(7): ECONNRESET, EPIPE)
            self.line.not_read()
        self._turns.lose()
        if self.line.peer is not None:
            self.line.peer.close()  # and it stays: of one that is gone something else is said than of nobody

    @property
    def rests_since(self) -> float | None:
        """Since when nothing is asked or answered here; None: something is, or nothing was yet."""
        is_resting = self._idle is not None and self._is_at_rest and not self.transport.is_closing()
        return self._idle_since if is_resting else None

    @property
    def _is_at_rest(self) -> bool:
        return self._deadline is None and self._turns.in_work is None

    def end(self) -> None:
        """What is being answered is still told; nothing more is taken."""
        self._is_deaf = True
        if self._turns.in_work is None:
            self.transport.close()

    # --- what comes in ---------------------------------------------------------------------------------

    def get_buffer(self, sizehint: int) -> bytearray:
        return BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_deaf:
            return
        before, self._piece = self._parts, nbytes
        try:
            self._parser.feed_data(VIEW[:nbytes])
        except httptools.HttpParserUpgrade:
            self._is_deaf = True  # its request was answered as if it had asked for nothing else
        except httptools.HttpParserCallbackError:
            log.exception("a bug: what came could not be taken")
            self.transport.close()
        except httptools.HttpParserError:
            self._refuse(NO_HTTP)
        if self._in_head:  # of a piece in which it began only what is its own
            self._head = self._head_size() if self._is_new else self._head + nbytes
            self._is_new = False
            if self._head > HEAD_MOST:
                self._refuse(HEAD_TOO_LARGE)
        elif self._is_coming:
            self._after_head += nbytes
            if self._after_head > SENT_MOST:
                self._refuse(too_large())
        if self._parts != before or self._is_deaf:
            self._within(None if self._is_deaf else self._due)  # a request that came whole needs no timer
        elif self._is_at_rest:
            self._within(HEADERS_WITHIN)  # line ends between requests: they too must come to something

    def on_message_begin(self) -> None:
        self._url, self._headers = b"", []
        self._is_coming = self._in_head = self._is_new = True
        self._head = self._after_head = 0
        self._now_due(HEADERS_WITHIN)

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # what follows a body in chunks is read by nobody
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._is_deaf:
            return
        if self._head + self._piece > HEAD_MOST and self._head_size() > HEAD_MOST:
            self._refuse(HEAD_TOO_LARGE)  # it came whole in one piece, so nothing was counted before
            return
        request = self._read_head()
        if request is None:
            self._refuse(NO_HTTP)
            return
        refused = self._gate.admit(request)
        if refused is not None:
            request.is_last = request.is_last or request.announces_body
            self._take(request, refused)
        else:
            self._request, self._body = request, bytearray()
            asks = request.named.get(b"expect", b"").lower() == b"100-continue"
            self._is_owed_a_word = asks and request.in_chunks
            if self._turns.in_work is None:
                self.rested()
        self._now_due(BODY_WITHIN)

    def on_body(self, data: bytes) -> None:
        if self._request is None or self._is_deaf:
            return
        self._body += data
        if len(self._body) > BODY_MOST:  # whatever length was announced
            request, self._request = self._request, None
            self._take(request, self._gate.confined(request, refusal_of(too_large())))

    def on_message_complete(self) -> None:
        self._is_coming = False
        self._now_due(None)
        self._is_owed_a_word = False
        request, self._request = self._request, None
        if request is not None and not self._is_deaf:
            request.body, self._body = bytes(self._body), bytearray()
            self._take(request, None)

    def _read_head(self) -> Request | None:
        target, version = self._url, self._parser.get_http_version()
        try:
            if target.startswith(b"/") and b"#" not in target:
                sent, _, query = target.partition(b"?")
            else:
                url = httptools.parse_url(target)
                sent, query = url.path or b"", url.query or b""
            path = sent.decode("ascii")
        except (httptools.HttpParserError, UnicodeDecodeError):
            path = ""
        if not path or version not in VERSIONS:
            return None
        request = Request(
            self.line,
            self._parser.get_method().decode("ascii"),
            path,
            query,
            self._headers,
            is_last=version == "1.0" or self._parser.should_upgrade() or not self._parser.should_keep_alive(),
            in_chunks=version != "1.0",
        )
        return None if self._parser.should_upgrade() and request.announces_body else request

    def _head_size(self) -> int:
        return len(self._url) + sum(len(name) + len(value) for name, value in self._headers)

    def _take(self, request: Request, refused: HttpAnswer | None) -> None:
        if refused is not None and (request.is_last or CLOSE in refused.headers):
            self._is_deaf = True
        if self._turns.take(request, refused):
            self._refuse(TOO_MANY)

    def _refuse(self, fault: HttpRefusal) -> None:
        """Of what is no request, for good; in its turn, as a request would be."""
        if not self._is_deaf:
            none = Request(self.line, "", "", b"", [], is_last=True)
            self._request = None
            self._take(none, self._gate.confined(none, refusal_of(fault)))

    # --- what was answered -----------------------------------------------------------------------------

    def answered(self, *, closing: bool) -> None:
        """An answer was sent; `closing`: it was the last."""
        if closing:
            self._hang_up()
            return
        self._idle_since = self._loop.time()
        if self._idle is None:
            self._look_in(KEEP_ALIVE)

    def _hang_up(self) -> None:
        """Who is still sending would lose the answer with the connection: it is let, for a moment, and not read. Who
        may not read a claim is waited for as long: closing it tells whether it did."""
        self._turns.clear()
        self._is_deaf = True
        if self.transport.is_closing() or not (self._is_coming or self.line.unread):
            self.transport.close()
            return
        self.transport.write_eof()
        self._loop.call_later(LINGER, self.transport.abort)

    def pause_writing(self) -> None:
        self._turns.pause()

    def resume_writing(self) -> None:
        self._turns.resume()

    def rested(self) -> None:
        """Nothing is being answered: whoever asked whether it may send its body may."""
        if self._is_owed_a_word and not self.transport.is_closing():
            self._is_owed_a_word = False
            self.transport.write(GO_ON)

    # --- its timers ------------------------------------------------------------------------------------

    def _look_whether_idle(self) -> None:
        self._idle = None
        if not self._is_at_rest:
            return  # a request is on its way, with a deadline of its own; its answer begins anew
        rest = self._idle_since + KEEP_ALIVE - self._loop.time()
        if rest > 0:
            self._look_in(rest)
        else:
            self.cut()

    def cut(self) -> None:
        """Whoever does not read what was written would keep a connection that is merely closed."""
        if self._turns.is_paused or self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _look_in(self, seconds: float) -> None:
        self._idle = self._loop.call_later(seconds, self._look_whether_idle)

    def _now_due(self, seconds: float | None) -> None:
        self._due = seconds
        self._parts += 1

    def _within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(seconds, self.cut) if seconds is not None else None
