"""A process that claims at random and writes down each call before it is made and each answer after it came.

Run as a program: socket, log, seed, number of operations, items. What it wrote is what it knows: a call
without an answer is one that it was killed in.
"""

import json
import os
import random
import sys
import time
from typing import Any

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection, Response

WAIT = 0.05
HOLDS_MOST = 2  # more would leave nothing for other clients


class Claimant:
    def __init__(self, path: str, log: str, seed: str, items: list[str]) -> None:
        self.path = path
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.seed = seed  # no other claimant has it; a pid may be of two
        self.chance = random.Random(seed)
        self.items = items
        self.holds: dict[str, int] = {}
        self.seen: dict[str, int] = {}  # the last fence that was ours
        self.connection = Connection(path)

    def work(self, operations: int) -> None:
        for number in range(operations):
            busy = len(self.holds) >= HOLDS_MOST
            item = self.chance.choice(sorted(self.holds) if busy else self.items)
            if item in self.seen and self.chance.random() < 0.2:
                self.check(number, item)
            elif item in self.holds:
                self.release(number, item)
            else:
                self.acquire(number, item)

    def acquire(self, number: int, item: str) -> None:
        wish: dict[str, Any] = {"item": item, "own": True, "request": f"{self.seed}-{number}"}
        if self.chance.random() < 0.5:
            wish["wait"] = WAIT
        answer, more = self.ask(number, "acquire", item, "POST", "/v1/claims", wish)
        if answer.status == 200:
            self.holds[item] = self.seen[item] = answer.data["fence"]
            self.write(number, says="granted", fence=answer.data["fence"], **more)
        else:
            holder = answer.data.get("holder")
            named = str(holder["pid"]) if holder else None
            if (
                answer.data.get("code") != "held"
            ):  # no answer of a right ledger to a living asker: no history has it
                named = f"an answer that cannot be: {answer.data}"
            self.write(number, says="held", holder=named, **more)

    def release(self, number: int, item: str) -> None:
        fence = self.holds.pop(item)
        path = f"/v1/claims/{item}?fence={fence}"
        answer, more = self.ask(number, "release", item, "DELETE", path, None, fence=fence)
        assert answer.status in (200, 404, 409), answer
        gone = answer.status != 200 or answer.data["again"]
        self.write(number, says="gone" if gone else "released", fence=fence, **more)

    def check(self, number: int, item: str) -> None:
        fence = self.seen[item]
        path = f"/v1/claims/{item}/check"
        answer, more = self.ask(number, "check", item, "POST", path, {"fence": fence}, fence=fence)
        assert answer.status == 200, answer
        self.write(number, says="current" if answer.data["current"] else "stale", fence=fence, **more)

    def ask(
        self, number: int, does: str, item: str, method: str, path: str, body: Any, **known: Any
    ) -> tuple[Response, dict[str, Any]]:
        """Until there is an answer: the daemon may be killed in between, and a retry is the same question."""
        self.write(number, does=does, item=item, **known)
        retried = False
        while True:
            try:
                return self.connection.call(method, path, body, within=20), {"retried": retried}
            except ClientFault:
                retried = True
                self.connection.close()
                self.connection = Connection(self.path)
                time.sleep(0.01)

    def write(self, number: int, **said: Any) -> None:
        line = json.dumps({"n": number, "at": time.monotonic(), **said})
        os.write(self.log, f"{line}\n".encode())


if __name__ == "__main__":
    _, path, log, seed, operations, *items = sys.argv
    Claimant(path, log, seed, items).work(int(operations))
