"""A client of the event stream that stamps each event on arrival: a plain socket, nothing in between."""

import json
import socket
import time
from pathlib import Path
from typing import Any

from tests.rig.agents.crowd import Crowd


class Stream:
    def __init__(self, path: Path, settle: float = 0.2) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self._rest = b""
        while b"event: snapshot" not in self._rest or not self._rest.endswith(b"\r\n"):
            self._rest += self._socket.recv(1 << 20)
        self._rest = b""
        self.read_until_quiet(settle)

    def fileno(self) -> int:
        return self._socket.fileno()

    def read_until_quiet(self, seconds: float = 0.2) -> None:
        self._socket.settimeout(seconds)
        try:
            while self._socket.recv(1 << 20):
                pass
        except TimeoutError:
            self._rest = b""
        self._socket.settimeout(30.0)

    def ended(self) -> list[tuple[int, float]]:
        """(pid, when it arrived) of every death in the next piece."""
        piece = self._socket.recv(1 << 20)
        now = time.perf_counter()
        if not piece:
            raise EOFError("the stream ended")
        *whole, self._rest = (self._rest + piece).split(b"\n\n")
        return [(event["session"]["pid"], now) for event in map(_data, whole) if _is_end(event)]

    def close(self) -> None:
        self._socket.close()


def _data(frame: bytes) -> Any:
    _, found, rest = frame.partition(b"data: ")
    return json.loads(rest.split(b"\n", 1)[0]) if found and b"event: session.ended" in frame else None


def _is_end(event: Any) -> bool:
    return event is not None and event["type"] == "session.ended"


def hear_each_death(path: Path, crowd: Crowd, kills: int, pause: float) -> list[float]:
    """One after another: from each kill until a reader of the stream has its event."""
    stream, sample = Stream(path), []
    for _ in range(kills):
        member = crowd.take()
        time.sleep(pause)
        began = time.perf_counter()
        member.kill()
        while not (told := [at for pid, at in stream.ended() if pid == member.pid]):
            pass
        sample.append(told[0] - began)
        member.reap()
    stream.close()
    return sample
