"""A stream of frames as an answer: until the frames end or the reader goes.

Rules of this file
  1. Two tasks and nothing more: one sends, one waits for the reader to go.
  2. Whichever ends first ends the other; a fault while sending is raised.

Not here: what the frames are (events.py).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import Struct

from headcount import __version__
from headcount.daemon.answer import Headers
from headcount.daemon.gate import Receive, Send


class Stream(Struct, frozen=True):
    frames: AsyncGenerator[bytes, None]
    media: str
    headers: Headers = ()

    async def send_all(self, receive: Receive, send: Send) -> None:
        version = (b"headcount-version", __version__.encode())
        headers = ((b"content-type", self.media.encode()), *self.headers, version)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            leaving.cancel()
            outcomes = await asyncio.gather(sending, leaving, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    async def _send(self, send: Send) -> None:
        async with aclosing(self.frames) as frames:  # a reader that goes in mid-frame is unsubscribed now
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
