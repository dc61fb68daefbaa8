"""One request and its answer on a connection: uvicorn's cycle, with a short way for whole answers.

Rules of this file
  1. A whole answer is written at once. Nothing of it is written for somebody who is gone, or who does not read what
     came before.
  2. Streams go uvicorn's way, piece by piece.

Not here: what is answered (gate.py), the connection (protocol.py).
"""

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from headcount.daemon.answer import Answer, on_the_wire

CLOSE = (b"connection", b"close")


class Cycle(RequestResponseCycle):
    async def answer(self, answer: Answer) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        assert not self.response_started, "an answer follows another one"
        if CLOSE in answer.headers:
            self.keep_alive = False
        closing = not self.keep_alive and CLOSE not in answer.headers
        headless = self.scope["method"] == "HEAD"
        self.response_started = self.response_complete = True
        self.transport.send(on_the_wire(answer, headless=headless, closing=closing))  # type: ignore[attr-defined]
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
