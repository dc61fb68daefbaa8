"""Who reports and who listens while a disk fails.

Rules of this file
  1. Answered is what came back as 2xx, refused what came back as 503; a broken connection is neither, and made again.
  2. Told is every number that came over the stream, until it was closed.
"""

import contextlib
import random
import re
import threading
import time

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from tests.rig.agents.crowd import Member
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.network.raw_requests import connect, request

PAUSE = 0.005


class Reports:
    def __init__(self, daemon: Daemon, members: list[Member], chance: random.Random) -> None:
        self._daemon = daemon
        self._word = f"{chance.randrange(1 << 32):08x}"
        self._over = threading.Event()
        self._answered: set[str] = set()
        self._refused = 0
        self._threads = [threading.Thread(target=self._report, args=(each,)) for each in members]
        for thread in self._threads:
            thread.start()

    def end(self) -> tuple[set[str], int]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return self._answered, self._refused

    def _report(self, member: Member) -> None:
        serial = 0
        connection = Connection(str(self._daemon.socket))
        while not self._over.is_set():
            serial += 1
            word = f"echo {self._word}-{member.pid}-{serial}"
            said = {
                "session_id": member.conversation,
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": word},
            }
            try:
                status = connection.call("POST", "/v1/hooks/claude-code", said).status
            except ClientFault:
                connection.close()
                connection = Connection(str(self._daemon.socket))
                status = 0
            if status in (200, 201, 202):
                self._answered.add(f"Bash: {word}")
            self._refused += status == 503
            time.sleep(PAUSE)
        connection.close()


class Told:
    def __init__(self, daemon: Daemon) -> None:
        seq = daemon.get("/v1/status")["store"]["seq"]
        self._socket = connect(daemon.socket)
        self._socket.sendall(request("GET", "/v1/events", b"", f"Last-Event-ID: {seq}"))
        self._socket.settimeout(0.2)
        self._over = threading.Event()
        self._got = b""
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def end(self) -> set[int]:
        self._over.set()
        self._thread.join()
        self._socket.close()
        return {int(number) for number in re.findall(rb"^id: (\d+)\r?\n", self._got, re.MULTILINE)}

    def _listen(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                try:
                    piece = self._socket.recv(65536)
                except ConnectionResetError:
                    return
                if not piece:
                    return
                self._got += piece
