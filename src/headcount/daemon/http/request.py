"""A request as it came in: what the gate checks and a route reads.

Rules
  1. It is whole: its body is here before anybody answers it.
  2. What is the same for all requests of a connection is of its line: the peer by the kernel's word, and whether
     anybody is still there.

Not here: reading it off the wire (connection.py), what is let in (request_checks.py), its parameters (daemon/api/route.py).
"""

import asyncio
import socket
from collections.abc import Callable

from msgspec import Struct, field

from headcount.daemon.identity.caller_ancestry import CallerAncestors
from headcount.system.loopback import Loopback, Names
from headcount.system.processes.descriptor_limits import NOTHING_LEFT
from headcount.system.unix_peer import Peer

Pairs = list[tuple[bytes, bytes]]


class ConnectionFacts(Struct):
    """A connection, as those see it who answer what comes by it."""

    peer: Peer | None = None
    loopback: Loopback | None = None  # of a connection of the page
    seen: CallerAncestors = field(
        default_factory=CallerAncestors
    )  # what was seen of the peer by earlier requests
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    unread: Callable[[], None] | None = (
        None  # to be called if the last answer turns out not to have been read
    )

    def not_read(self) -> None:
        undo, self.unread = self.unread, None
        if undo is not None:
            undo()

    @classmethod
    def of(cls, sock: socket.socket, names: Names | None = None) -> "ConnectionFacts":
        """An OSError: no descriptor was left to pin the peer with. Who cannot be named for another reason is nobody."""
        try:
            if names is None:
                return cls(peer=Peer.of(sock))
            return cls(loopback=Loopback.of(sock, names))
        except OSError as error:
            if error.errno in NOTHING_LEFT:
                raise
            return cls()


class Request(Struct):
    line: ConnectionFacts
    method: str
    path: str  # as it was sent
    query: bytes
    headers: Pairs
    body: bytes = b""
    is_last: bool = False  # its connection ends with its answer
    in_chunks: bool = True  # whether its caller knows an answer of unknown length; HTTP/1.0 does not

    named: dict[bytes, bytes] = field(default_factory=dict)  # the headers; of several the first

    def __post_init__(self) -> None:
        self.named = dict(reversed(self.headers))

    @property
    def announces_body(self) -> bool:
        return self.named.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in self.named
