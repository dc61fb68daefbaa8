"""A claimant in a fleet: as random_claimant.py, on items that change with the round, with a daemon that may not answer.

Run as a program: socket, log, seed, file with the round, number of items. Ends when that file is gone. A call that was
answered with 503 has no answer here: it may have taken effect. A refusal that names no holder proves nothing.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection, Response
from tests.rig.claims.random_claimant import Claimant

PAUSE = 0.03
WAIT = 0.3


class FleetClaimant(Claimant):
    def __init__(self, path: str, log: str, seed: str, items: int) -> None:
        super().__init__(path, log, seed, [])
        self.count = items

    def live(self, rounds: Path) -> None:
        number, before = 0, ""
        while True:
            try:
                now = rounds.read_text()
            except FileNotFoundError:
                return
            if now != before:
                self.items = [f"task:{now}-{nth}" for nth in range(self.count)]
                self.holds.clear()
                self.seen.clear()
                before = now
            self.step(number)
            number += 1
            time.sleep(self.chance.random() * PAUSE)

    def step(self, number: int) -> None:
        item = self.chance.choice(self.items)
        dice = self.chance.random()
        if item in self.seen and dice < 0.6:
            self.check(number, item)
        elif item in self.holds and dice < 0.8:
            self.release(number, item)
        elif item not in self.holds:
            self.acquire(number, item)

    def acquire(self, number: int, item: str) -> None:
        wish: dict[str, Any] = {"item": item, "own": True, "request": f"{os.getpid()}-{number}"}
        if self.chance.random() < 0.3:
            wish["wait"] = WAIT
        answer = self.told(number, "acquire", item, "POST", "/v1/claims", wish)
        if answer is None:
            return
        if answer.status == 200:
            self.holds[item] = self.seen[item] = answer.data["fence"]
            self.write(number, says="granted", fence=answer.data["fence"], retried=False)
        elif answer.data.get("holder"):
            self.write(number, says="held", holder=str(answer.data["holder"]["pid"]), retried=False)

    def release(self, number: int, item: str) -> None:
        fence = self.holds.pop(item)
        path = f"/v1/claims/{item}?fence={fence}"
        answer = self.told(number, "release", item, "DELETE", path, None, fence=fence)
        if answer is not None:
            gone = answer.status != 200 or answer.data["again"]
            self.write(number, says="gone" if gone else "released", fence=fence, retried=False)

    def check(self, number: int, item: str) -> None:
        fence = self.seen[item]
        answer = self.told(
            number, "check", item, "POST", f"/v1/claims/{item}/check", {"fence": fence}, fence=fence
        )
        if answer is not None:
            current = answer.data["current"]
            if not current:
                self.holds.pop(item, None)
            self.write(number, says="current" if current else "stale", fence=fence, retried=False)

    def told(
        self, number: int, does: str, item: str, method: str, path: str, body: Any, **known: Any
    ) -> Response | None:
        """None: the outcome is unknown."""
        self.write(number, does=does, item=item, **known)
        try:
            answer = self.connection.call(method, path, body, within=20)
        except ClientFault:
            self.connection.close()
            self.connection = Connection(self.path)
            time.sleep(PAUSE)
            return None
        assert answer.status in (200, 404, 409, 503), answer
        return None if answer.status == 503 else answer


if __name__ == "__main__":
    _, path, log, seed, rounds, items = sys.argv
    FleetClaimant(path, log, seed, int(items)).live(Path(rounds))
