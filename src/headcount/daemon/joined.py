"""A transport whose writes of one turn leave in one piece.

Rules of this file
  1. uvicorn writes the head and the body of an answer one after the other: two calls of the kernel, and the client
     is woken twice. Joined they are one of each.
  2. What was written is sent before the transport closes.

Not here: the protocol (listen.py).
"""

import asyncio
from typing import Any


class JoinedWrites:
    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send(self) -> None:
        if self._held:
            held, self._held = self._held, []
            self._transport.write(b"".join(held))
