"""The protocol of a connection: uvicorn's, with the peer in the scope, deadlines for slow senders, and less to do.

Rules of this file
  1. The kernel's word on the peer is taken when the connection is made and closed with it.
  2. A request that does not arrive in time is closed; one that is no HTTP, or whose head is too large, is
     refused in the same form as by the gate.
  3. What is the same for all requests of a connection is made once: its state, its timer. The timer of an idle
     connection is not cancelled by each request; when it is due, it looks whether anybody came.

Not here: listening (listen.py), answering (cycle.py), what is allowed (gate.py).
"""

import asyncio
import contextlib
import socket
from typing import Any

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headcount.daemon.cycle import Cycle
from headcount.daemon.joined import JoinedWrites
from headcount.daemon.lineage import Seen
from headcount.system.loopback import Loopback
from headcount.system.peer import Peer
from headcount.times import BODY_WITHIN, HEADERS_WITHIN, KEEP_ALIVE
from headcount.wire.messages import Fault, FaultBody

HEAD_MOST = 32 * 1024


class Protocol(HttpToolsProtocol):
    _peer: Peer | None = None
    loopback: Loopback | None = None  # of a connection of the page
    _deadline: asyncio.TimerHandle | None = None
    _due: float | None = None  # how long what is coming in may take from its beginning
    _parts = 0  # beginnings and ends of heads and bodies so far
    _in_head = False
    _head = 0  # bytes of this head in pieces before this one
    _piece = 0  # bytes of the piece that is being read
    _too_large = False
    _idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = JoinedWrites(transport, self.loop)  # type: ignore[assignment]
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family == socket.AF_UNIX:
            with contextlib.suppress(OSError):
                self._peer = Peer.of(sock)
        elif sock is not None and sock.family == socket.AF_INET:
            with contextlib.suppress(OSError):
                self.loopback = Loopback.of(sock)
        self.app_state = {
            **self.app_state,
            "peer": self._peer,
            "loopback": self.loopback,
            "seen": Seen(),
        }
        self._within(HEADERS_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._within(None)
        super().connection_lost(exc)
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    # --- what comes in ---------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        before, self._piece = self._parts, len(data)
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_MOST:
                self._refuse_head()
        if self._parts != before:
            self._within(self._due)  # a request that came whole needs no timer
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._within(HEADERS_WITHIN)  # line ends between requests: they too must come to something

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._in_head, self._head = True, 0
        self._now_due(HEADERS_WITHIN)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._head + self._piece > HEAD_MOST and self._head_size() > HEAD_MOST:
            self._too_large = True  # it came whole in one piece, so nothing was counted before
            raise ValueError("the head is too large")
        version = self.parser.get_http_version()
        url = httptools.parse_url(self.url)
        self.scope: dict[str, Any] = {  # type: ignore[assignment]
            "type": "http",
            "http_version": version,
            "method": self.parser.get_method().decode("ascii"),
            "path": url.path.decode("ascii"),  # as it was sent
            "query_string": url.query or b"",
            "headers": self.headers,
            "state": self.app_state,
        }
        before = self.cycle
        self.cycle = Cycle(
            scope=self.scope,  # type: ignore[arg-type]
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=[],
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        self.scope["answer"] = self.cycle.answer
        if before is None or before.response_complete:
            self._start(self.cycle)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))
        self._now_due(BODY_WITHIN)

    def on_message_complete(self) -> None:
        self._now_due(None)
        super().on_message_complete()

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _start(self, cycle: Any) -> None:
        task = self.loop.create_task(cycle.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    # --- what was answered -----------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined]
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start(self.pipeline.pop()[0])
            return
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._look_in(KEEP_ALIVE)

    def _unset_keepalive_if_required(self) -> None:
        """Called for everything that comes in. The timer runs on: see `timeout_keep_alive_handler`."""

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        if self._deadline is not None or (self.cycle is not None and not self.cycle.response_complete):
            return  # a request is on its way, with a deadline of its own; its answer begins anew
        rest = self._idle_since + KEEP_ALIVE - self.loop.time()
        if rest > 0:
            self._look_in(rest)
        elif not self.transport.is_closing():
            self.transport.close()

    def _look_in(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    # --- what is refused -------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Called for whatever the parser does not take, also for what `on_headers_complete` raised."""
        if self._too_large:
            self._refuse_head()
        else:
            self._refuse(b"400 Bad Request", "not-http", "This is not HTTP/1.1 as headcount speaks it.")

    def _refuse_head(self) -> None:
        message = f"A request line and its headers may have {HEAD_MOST} bytes."
        self._refuse(b"431 Request Header Fields Too Large", "head-too-large", message)

    def _refuse(self, status: bytes, code: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = msgspec.json.encode(FaultBody(error=Fault(code=code, message=message)))
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close" % len(body)
        self.transport.write(b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (status, head, body))
        self.transport.close()

    def _now_due(self, seconds: float | None) -> None:
        self._due = seconds
        self._parts += 1

    def _within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._too_slow) if seconds is not None else None

    def _too_slow(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
