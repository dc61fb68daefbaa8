"""Load: reports through HTTP and the mailbox, each with a word of its own, until the daemon is gone.

Rules of this file
  1. Each sender speaks for an agent of its own, so that every report is news and leaves an event.
  2. Answered is what came back as 2xx; a broken connection answered nothing.
"""

import os
import random
import threading
import time

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from tests.rig.agents.crowd import Member
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon

HTTP_SENDERS = 4
DROPPERS = 2
PAUSE = 0.001


class Load:
    def __init__(self, daemon: Daemon, chance: random.Random) -> None:
        self._daemon = daemon
        self._word = f"{chance.randrange(1 << 32):08x}"
        self._serial = 0
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.droppers: list[Member] = []
        self._answered: set[str] = set()
        self._dropped: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, members: list[Member]) -> None:
        self._over.clear()
        self._answered, self._dropped = set(), set()
        senders = [(self._post, member) for member in members[:HTTP_SENDERS]]
        self.droppers = members[HTTP_SENDERS : HTTP_SENDERS + DROPPERS]
        senders += [(self._drop, member) for member in self.droppers]
        self._threads = [threading.Thread(target=work, args=(member,)) for work, member in senders]
        for thread in self._threads:
            thread.start()

    def end(self) -> tuple[set[str], set[str]]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return self._answered, self._dropped

    def is_drained(self) -> bool:
        return not [name for name in os.listdir(self._daemon.mailbox) if not name.startswith(".")]

    def _next(self) -> str:
        with self._lock:
            self._serial += 1
            return f"echo {self._word}-{self._serial}"

    def _post(self, member: Member) -> None:
        connection = Connection(str(self._daemon.socket))
        try:
            while not self._over.is_set():
                word = self._next()
                body = {
                    "session_id": member.conversation,
                    "hook_event_name": "PreToolUse",
                    "tool_name": "Bash",
                    "tool_input": {"command": word},
                }
                answer = connection.call("POST", "/v1/hooks/claude-code", body)
                assert answer.status in (200, 201, 202), answer
                self._answered.add(f"Bash: {word}")
        except ClientFault:
            pass  # it was killed: this one was not answered
        finally:
            connection.close()

    def _drop(self, member: Member) -> None:
        at = time.time()
        while not self._over.is_set():
            word = self._next()
            at = max(time.time(), at + PAUSE)  # no two in one moment: the second would be no news
            drop(
                self._daemon.mailbox,
                member,
                payload(member, "PreToolUse", tool_name="Bash", tool_input={"command": word}),
                at,
            )
            self._dropped.add(f"Bash: {word}")
            time.sleep(PAUSE)
