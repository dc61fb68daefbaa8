"""The daemon's listener without a daemon: a server on a real socket whose routes are a test's, and lines to it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from headcount.daemon.http.answer import HttpAnswer, HttpStream
from headcount.daemon.http.listen import HttpServer, open_unix_socket
from headcount.daemon.http.request import Request
from headcount.daemon.http.request_checks import Gate

WITHIN = 10.0


class Scene:
    """A server whose routes are what a test says; `/slow` answers when it is let."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.let, self.began, self.frames_over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.bodies: list[bytes] = []
        self.server = HttpServer()
        self.server.serve_app(Gate(self._answer))
        self.server.listen(open_unix_socket(path))
        self.serving = asyncio.create_task(self.server.serve())

    async def _answer(self, request: Request) -> HttpAnswer | HttpStream:
        self.bodies.append(request.body)
        if request.path.startswith("/slow"):
            self.began.set()
            await self.let.wait()
        if request.path.endswith("stream"):
            return HttpStream(self._frames(), "text/plain")
        if request.path == "/large":
            return HttpAnswer(200, b"x" * 1_000_000)
        return HttpAnswer(200, request.path.encode())

    async def _frames(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            yield b""
            self.began.set()
            await self.let.wait()
            yield b"two"
        finally:
            self.frames_over.set()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in range(500):
            try:
                return await asyncio.open_unix_connection(str(self.path))
            except OSError:
                await asyncio.sleep(0.01)
        raise AssertionError("no server listens")


@asynccontextmanager
async def lone_server(path: Path) -> AsyncIterator[Scene]:
    made = Scene(path)
    try:
        yield made
    finally:
        made.let.set()
        made.server.end()
        await made.serving


@asynccontextmanager
async def line(
    scene: Scene,
) -> AsyncIterator[tuple[Callable[[bytes], None], Callable[[], Awaitable[bytes]], asyncio.StreamReader]]:
    """`send` and `read` (one whole answer: its status and body)."""
    reader, writer = await scene.connect()

    async def read() -> bytes:
        async with asyncio.timeout(WITHIN):
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            body = await reader.readexactly(int(length or 0)) if length else b""
        return head.split()[1] + b" " + body

    try:
        yield writer.write, read, reader
    finally:
        writer.close()


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def post(path: str, *headers: str, body: bytes = b"") -> bytes:
    kind = "Content-Type: application/json"
    head = "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", kind, *headers, "", ""])
    return head.encode() + body
