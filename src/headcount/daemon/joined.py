"""A transport whose writes of one turn leave in one piece.

Rules of this file
  1. uvicorn writes the head and the body of a stream one after the other: two calls of the kernel, and the client
     is woken twice. Joined they are one of each.
  2. A whole answer leaves at once (`send`), one that uvicorn wrote in pieces when it is complete (`flush`), the
     pieces of a stream when the turn ends.
  3. What was written is sent before the transport closes.

Not here: the protocol (listen.py).
"""

import asyncio
from typing import Any


class JoinedWrites:
    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._sending: asyncio.Handle | None = None

    def write(self, data: bytes) -> None:
        if self._sending is None:
            self._sending = self._loop.call_soon(self.flush)
        self._held.append(data)

    def send(self, data: bytes) -> None:
        """At once, after what is held."""
        self.flush()
        self._transport.write(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def flush(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
            held, self._held = self._held, []
            self._transport.write(b"".join(held))
