"""HTTP/1.1 over the daemon's unix socket, written by hand because importing an HTTP library costs more than a request.

Rules
  1. Every call has one deadline for the whole of it, not one for each read.
  2. A connection is kept and used again. Only a GET is sent a second time, and only if the kept connection was
     closed before the first byte of an answer.
  3. Kernel errors are translated into faults here and nowhere else.
  4. A connection belongs to the process that opened it, because the daemon identifies the caller by it. A
     forked copy closes its own descriptor, opens its own connection and ends nobody else's.

Not here: starting a daemon, versions (client/daemon_access.py), parsing answers and events
  (client/transport/response.py).
"""

import _socket  # the same sockets without the 4 ms that `import socket` spends on enums
import errno
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from headcount import times
from headcount.client.faults import Broken, Deaf, NotRunning, TimedOut, Unavailable, refusal
from headcount.client.transport.response import ResponseHead, ResponseReader

if TYPE_CHECKING:
    from socket import socket

    from headcount.client.transport.response import ServerSentEvent

SOCKET_PATH_MOST = 103  # bytes; sun_path holds 108 with its end on Linux, 104 on macOS
RECEIVE_SIZE = 65_536  # from 128 KiB on an allocator asks the kernel each time, and gives it back
_DECODER = json.JSONDecoder()  # `json.loads` also looks for blanks around what has none
PEERCRED: int | None = getattr(_socket, "SO_PEERCRED", None)

A_SANDBOX = ("The sandbox around this command", "")
SANDBOXES = {  # by the variable that each sets for what runs in it: whose it is, and what else helps
    "SANDBOX_RUNTIME": ("Claude Code's sandbox", ", or allowAllUnixSockets in its settings"),
    "CODEX_SANDBOX_NETWORK_DISABLED": ("Codex's sandbox", ""),
    "CODEX_SANDBOX": ("Codex's sandbox", ""),
}


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    data: Any


class StreamListener(Protocol):
    """A screen that somebody looks at: it must know at once when nothing is heard any more."""

    def heard(self) -> None: ...
    def broke(self) -> None: ...


class Connection:
    def __init__(self, path: str, credential: str = "") -> None:
        self._path = path
        self._credential = f"authorization: {credential}\r\n" if credential else ""
        self._socket: _socket.socket | None = None
        self._opened_by = 0  # the pid of the process whose socket that is
        self.daemon_pid = 0  # who listens, by the kernel; 0: not known, or not visible from here
        self._reader: ResponseReader | None = None
        self._deadline = 0.0
        self._allowed = 0.0  # how long one step of the socket may take
        self.closes = (
            0  # how often another thread closed the client; only the thread that asks touches the socket
        )
        self.since = 0  # how often before the call that is going on

    def call(
        self, method: str, path: str, body: object = None, within: float = times.CALL_WITHIN
    ) -> Response:
        """The daemon's answer, whatever its status is; a fault when there is none."""
        self._deadline = time.monotonic() + within
        sent = request(method, path, body, self._credential)
        if not self._is_ours():
            self.close()
        kept = self._socket is not None
        try:
            head, content = self._exchange(sent)
        except Broken:
            if not kept or method != "GET":
                raise
            head, content = self._exchange(sent)  # the daemon had closed the idle connection
        return Response(head.status, head.headers, parsed(content))

    def stream(
        self,
        path: str,
        last_event_id: str | None = None,
        until: float | None = None,
        listener: StreamListener | None = None,
    ) -> "Iterator[ServerSentEvent]":
        """Events until the stream ends (`Broken`) or the monotonic time `until` has come (`TimedOut`).
        The connection is the stream's own from then on. A `listener` is told of every sign of life."""
        self.close()
        resume = f"last-event-id: {last_event_id}\r\n" if last_event_id is not None else ""
        self._deadline = time.monotonic() + times.CALL_WITHIN
        try:
            reader = self._send(
                request("GET", path, None, f"accept: text/event-stream\r\n{resume}{self._credential}")
            )
            head = reader.head()
            if head.status != 200:
                raise refusal(head.status, parsed(reader.body(head)))
            if listener is not None:
                listener.heard()
            yield from self._events(reader, until, listener)
        finally:
            self.close()

    def interrupt(self) -> None:
        """From another thread: whoever waits for bytes here sees the connection end."""
        sock = self._socket
        if sock is not None and self._is_ours():
            try:
                sock.shutdown(_socket.SHUT_RDWR)
            except OSError:
                return  # it is over already

    def terminate_listener(self) -> None:
        """Ask whoever listens to end, by a signal through the kernel's handle of that very process."""
        from headcount.clean_text import command
        from headcount.system.send_signal import Sent, terminate_listener  # lazy import: rarely used, slow

        assert self._socket is not None
        sent = terminate_listener(self._socket)
        if not isinstance(sent, Sent) and not sent.over:
            raise Unavailable(
                f"The daemon (pid {self.daemon_pid}) could not be stopped: {sent.why}.",
                f"End it by hand: {command('kill', str(self.daemon_pid))}",
            )

    def leave(self) -> None:
        """From another thread: the call that is going on ends, wherever it is."""
        self.closes += 1
        self.interrupt()

    @property
    def is_left(self) -> bool:
        return self.closes != self.since

    def close(self) -> None:
        """The owner ends it, also where a forked copy of this process still has the descriptor: only then the daemon
        sees that somebody left the line."""
        self.interrupt()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._reader = None

    def _is_ours(self) -> bool:
        return self._opened_by == os.getpid()

    def _events(
        self, reader: ResponseReader, until: float | None, listener: StreamListener | None
    ) -> "Iterator[ServerSentEvent]":
        from headcount.client.transport.response import (
            EventParser,  # most callers ask once, and listen to nothing
        )

        parser = EventParser()
        pieces = reader.chunks()
        patience = times.STREAM_SILENT_AFTER if listener is None else times.SCREEN_SILENT_AFTER
        while True:
            silent = time.monotonic() + patience
            self._deadline = silent if until is None else min(silent, until)
            try:
                piece = next(pieces, None)
            except Deaf:
                if until is not None and time.monotonic() >= until:
                    raise TimedOut("The time is up.") from None
                raise Broken("The event stream fell silent.", "See: headcount doctor") from None
            if piece is None:
                raise Broken("The event stream ended.")
            if listener is not None:
                listener.heard()
            yield from parser.feed(piece)

    def _exchange(self, request: bytes) -> tuple[ResponseHead, bytes]:
        try:
            reader = self._send(request)
            head = reader.head()
            content = reader.body(head)
        except BaseException:  # also Ctrl-C: nobody may read the rest as the answer to something else
            self.close()
            raise
        if head.is_last:
            self.close()
        return head, content

    def _send(self, request: bytes) -> ResponseReader:
        if self._socket is None or self._reader is None:
            self._socket = self._connected()
            self._opened_by = os.getpid()
            self._reader = ResponseReader(self._receive)
        if self.is_left:  # looked at when `leave` can see the socket: one of the two sees the other
            raise Broken("This client was closed while it waited for the answer.")
        try:
            self._limit(self._socket)
            self._socket.sendall(request)
        except TimeoutError:
            raise deaf() from None
        except OSError as error:
            raise Broken("The daemon closed the connection.", "Try again.") from error
        return self._reader

    def _receive(self) -> bytes:
        assert self._socket is not None
        if not self._is_ours():  # we were forked in the middle: what comes is the other's
            raise Broken("This connection is of the process that this one was forked from.", "Ask again.")
        try:
            self._limit(self._socket)
            return self._socket.recv(RECEIVE_SIZE)
        except TimeoutError:
            raise deaf() from None
        except OSError as error:
            raise Broken("The connection to the daemon broke.", "Try again.") from error

    def _connected(self) -> _socket.socket:
        sock = None
        self._allowed = 0.0
        try:
            sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)  # close-on-exec by PEP 446
            while True:
                self._limit(sock)
                try:
                    connect_unix(sock, self._path)
                    self.daemon_pid = check_peer(sock, self._path)
                    return sock
                except BlockingIOError:  # its queue is full: unix sockets say so at once instead of waiting
                    time.sleep(times.CONNECT_RETRY_EVERY)
        except BaseException as error:
            if sock is not None:
                sock.close()
            if isinstance(error, OSError):
                raise unreached(self._path, error) from None
            raise

    def _limit(self, sock: _socket.socket) -> None:
        """The next step may take what is left. The socket is told only where it would wait for noticeably longer."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise deaf()
        if not left <= self._allowed <= left + times.LIMIT_SLACK:
            self._allowed = left + times.LIMIT_SLACK / 2
            sock.settimeout(self._allowed)


def rest(body: Any, spent: float) -> Any:
    """What is asked again waits in line for what is left of its time, not from the beginning."""
    wait = body.get("wait") if isinstance(body, dict) else None
    return body if not wait or not spent else {**body, "wait": max(wait - spent, 0.0)}


def time_left(within: float, spent: float) -> float:
    """A daemon that was just started has the usual time for its answer."""
    return max(within - spent, min(within, times.CALL_WITHIN))


def deaf() -> Deaf:
    return Deaf("The headcount daemon does not answer in time.", "See what is wrong: headcount doctor")


def unreached(path: str, error: OSError) -> Unavailable:
    """Why there is no connection. A sandbox refuses the call itself (EPERM, of no file), before anything is looked for."""
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError, NotADirectoryError)):
        return NotRunning("No headcount daemon is running.", "Start it: headcount up")
    if error.errno == errno.EPERM and error.filename is None:
        whose, instead = next((told for name, told in SANDBOXES.items() if name in os.environ), A_SANDBOX)
        return Unavailable(
            f"{whose} does not allow sockets, so headcount cannot reach its daemon from in here.",
            f"What works: headcount's MCP tools (headcount mcp install), or this command outside the sandbox{instead}.",
        )
    why = error.strerror or str(error)  # also what was no daemon of ours
    return Unavailable(f"The socket {path} cannot be used: {why}.", "See: headcount doctor")


def connect_unix(sock: _socket.socket, path: str) -> None:
    """Connect, also to a path longer than the address can hold: through its opened directory."""
    if len(os.fsencode(path)) <= SOCKET_PATH_MOST:
        sock.connect(path)
        return
    directory, _, name = path.rpartition("/")
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sock.connect(f"/proc/self/fd/{fd}/{name}")
    finally:
        os.close(fd)


def check_peer(sock: "_socket.socket | socket", path: str) -> int:
    """The pid that listens there. It is told secrets and believed: it must be our own user (unix(7), SO_PEERCRED)."""
    if PEERCRED is None:
        return 0
    credentials = sock.getsockopt(_socket.SOL_SOCKET, PEERCRED, 12)
    uid = int.from_bytes(credentials[4:8], sys.byteorder)
    if uid != os.getuid():
        raise PermissionError(errno.EPERM, f"another user (uid {uid}) listens there", path)
    return int.from_bytes(credentials[:4], sys.byteorder)


def request(method: str, path: str, body: object, more: str = "") -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    kind = "" if body is None else "content-type: application/json\r\n"
    length = "" if method == "GET" else f"content-length: {len(content)}\r\n"
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{kind}{length}{more}\r\n"
    return head.encode("latin-1") + content


def parsed(content: bytes) -> Any:
    if not content:
        return None
    text = content.decode("utf-8", "replace")
    try:
        data, end = _DECODER.raw_decode(text)
    except ValueError:
        return text  # /metrics, and whoever is not headcount
    return data if end == len(text) else text


class Question:
    """One call of the wire. `again`: asking it twice is asking it once. (Plain: the class of a NamedTuple or a dataclass is
    made anew at each import, which takes as long as a claim takes to be decided.)"""

    __slots__ = ("again", "body", "method", "path", "within")

    def __init__(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        within: float = times.CALL_WITHIN,
        again: bool = False,
    ) -> None:
        self.method = method
        self.path = path
        self.body = body
        self.within = within
        self.again = again

    def after(self, spent: float) -> "Question":
        """The same question, asked again when that much of its time has gone."""
        return Question(
            self.method, self.path, rest(self.body, spent), time_left(self.within, spent), self.again
        )
