"""A stream of frames as an answer: until the frames end or the reader goes.

Rules of this file
  1. Two tasks and nothing more: one sends, one waits for the reader to go. Starlette's own answer brings
     anyio, which is 100 ms of import in the middle of a running loop and 4 MB for good.
  2. Whichever ends first ends the other; a fault while sending is raised.

Not here: what the frames are (events.py).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class StreamResponse(Response):
    def __init__(self, frames: AsyncGenerator[bytes, None], headers: dict[str, str], media_type: str) -> None:
        super().__init__(None, headers=headers, media_type=media_type)
        del self.headers["content-length"]
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
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
        async with aclosing(self._frames) as frames:  # a reader that goes in mid-frame is unsubscribed now
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
