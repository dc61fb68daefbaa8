"""Killing agents one by one and waiting until the stream tells of each.

Rules of this file
  1. Each is introduced by a report and bound before it is killed.
  2. The time of a death is from the signal to the moment its event was read from the stream.
"""

import contextlib
import json
import threading
import time

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from tests.rig.agents.crowd import Crowd
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually


class DeathsTold:
    def __init__(self, daemon: Daemon, crowd: Crowd) -> None:
        self._crowd = crowd
        self._ended: dict[str, float] = {}
        for member in crowd.members:
            drop(daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        wanted = {member.conversation for member in crowd.members}

        def bound() -> bool:
            rows = daemon.get("/v1/sessions")["sessions"]
            return wanted <= {row["conversation"] for row in rows if row["liveness"] == "alive"}

        eventually(bound, within=60)
        self._connection = Connection(str(daemon.socket))
        self._events = self._connection.stream("/v1/events")
        next(self._events)  # the snapshot: from here on everything is told
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def kill_one(self, within: float) -> float:
        """Seconds from the kill to the word of it; `within` when there was none."""
        member = self._crowd.take()
        began = time.monotonic()
        member.kill()
        member.reap()
        with contextlib.suppress(AssertionError):
            eventually(lambda: member.conversation in self._ended, within=within)
        return self._ended.get(member.conversation, began + within) - began

    def close(self) -> None:
        self._connection.interrupt()
        self._thread.join(10)

    def _follow(self) -> None:
        with contextlib.suppress(ClientFault):
            for event in self._events:
                said = json.loads(event.data)
                if said.get("type") == "session.ended":
                    self._ended[said["session"]["conversation"]] = time.monotonic()
