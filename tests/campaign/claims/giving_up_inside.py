"""Callers that give up at random points, in a process that lives on. See giving_up.py.

Rules of this file
  1. This process is the holder of every claim (`own=True`): what is left behind would stay until it ends.
  2. After each round a `with` block on the same item must own it and give it back, and nothing may be held.
  3. `naive` clients withdraw nothing: the client as it was before.
"""

import asyncio
import json
import os
import random
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import headcount
from headcount import times
from headcount.client import claims
from headcount.client.aio import AsyncClaim
from headcount.client.daemon_access import reach
from headcount.client.faults import ClientFault, Refused
from headcount.client.transport import connection
from headcount.client.transport.connection import request

WAYS = ("cancelled", "interrupted", "disconnected", "as it is granted", "silent", "killed")
SELDOM = {"silent": 20, "killed": 100}  # these take long: one in so many rounds
MOST = 0.004  # seconds after which a caller gives up; an answer takes one or two milliseconds
PATIENCE = 0.05  # of a client whose daemon says nothing
ITEM = "task:given-up"
WITHIN = 20.0


class GaveUp(Exception):
    """What the signal handler raises."""


class Scene:
    def __init__(self, seed: int, *, naive: bool) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.naive = naive
        self.env = dict(os.environ)
        self.client = headcount.Client(env=self.env, autostart=False)
        self.other = headcount.AsyncClient(env=self.env, autostart=False)
        self.loop = asyncio.new_event_loop()
        self.daemon = int(reach(self.env).get("/healthz")["pid"])
        self.nth = 0
        signal.signal(signal.SIGALRM, self._raise)
        if naive:
            claims.note = lambda *_: False  # type: ignore[assignment]

    def round(self) -> None:
        self.nth += 1
        due = [way for way, every in SELDOM.items() if self.nth % every == 0]
        way = due[-1] if due else self.chance.choice([each for each in WAYS if each not in SELDOM])
        item = f"{ITEM}-{self.nth}" if self.naive else ITEM  # what one round leaves must not fail the next
        gave_up = WAY[way](self, item)
        self.counts["rounds"] += gave_up  # what was in time is none
        self.counts[way] += 1
        self.counts[f"{way}: gave up"] += gave_up
        if gave_up and not self._is_clean(way, item):
            self.counts["left"] += 1
            self.counts[f"{way}: left"] += 1

    def _is_clean(self, way: str, item: str) -> bool:
        """A block that comes later owns the item until its end, and gives it back."""
        with self.client.claim(item, own=True) as claim:
            owned = claim.granted and (way == "disconnected" or not claim.again)
            time.sleep(self._moment() / 4)
            owned = owned and claim.is_current()
        if (
            way == "disconnected"
        ):  # no withdrawal is sent: the daemon must notice that the answer was not read
            return owned and self._eventually(lambda: not self._held(item))
        return owned and not self._held(item)

    def _held(self, item: str) -> bool:
        return any(claim.item == item for claim in self.client.claims())

    def _eventually(self, is_so: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + (0.5 if self.naive else WITHIN)
        while not is_so():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def _moment(self) -> float:
        return self.chance.uniform(0.0, MOST)

    # --- ways of giving up -----------------------------------------------------------------------------

    def cancelled(self, item: str) -> bool:
        """A task that is cancelled."""

        async def ask() -> bool:
            try:
                async with asyncio.timeout(self._moment()):
                    claim = await self.other.claim(item, own=True)
            except TimeoutError:
                return True
            await claim.release()
            return False

        return self.loop.run_until_complete(ask())

    def as_it_is_granted(self, item: str) -> bool:
        """A wait that is cancelled while its item becomes free."""

        async def ask() -> bool:
            holder = claims.acquire(item, own=True)
            link = await asyncio.to_thread(Elsewhere, self.env, holder)
            waits = asyncio.ensure_future(self.other.claim(item, own=True, wait=30))
            await asyncio.sleep(self._moment() / 2)
            link.release()
            await asyncio.sleep(self._moment() / 2)
            waits.cancel()
            try:
                claim = await waits
            except asyncio.CancelledError:
                return True
            finally:
                link.close()
            await claim.release()
            return False

        return self.loop.run_until_complete(ask())

    def interrupted(self, item: str) -> bool:
        """A signal handler that raises, inside `claim`."""
        claim = None
        signal.setitimer(signal.ITIMER_REAL, max(1e-6, self._moment()))
        try:
            claim = self.client.claim(item, own=True)
        except GaveUp:
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        claim.release()
        return False

    def _raise(self, number: int, frame: Any) -> None:
        """Only while `claim` runs: what it returned is its caller's."""
        del number
        while frame is not None:
            if frame.f_code is headcount.Client.claim.__code__:
                raise GaveUp
            frame = frame.f_back

    def disconnected(self, item: str) -> bool:
        """A connection that ends without the answer having been read, as when its process is killed."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(self.client._line().reach.places.socket)
            question = claims.acquire(item, own=True)
            sock.sendall(request(question.method, question.path, question.body))
            time.sleep(self._moment())
        return True

    def silent(self, item: str) -> bool:
        """A daemon that says nothing for longer than its client is patient."""
        os.kill(self.daemon, signal.SIGSTOP)
        times.CALL_WITHIN = times.GIVE_UP_WITHIN = PATIENCE  # type: ignore[misc]
        try:
            self.client.claim(item, own=True).release()
            return False
        except ClientFault:
            return True
        finally:
            times.CALL_WITHIN, times.GIVE_UP_WITHIN = 5.0, 1.0  # type: ignore[misc]
            os.kill(self.daemon, signal.SIGCONT)

    def killed(self, item: str) -> bool:
        """A daemon that is killed while it is asked, and a caller that gives up before there is another."""
        pid = self.daemon

        async def ask() -> AsyncClaim | None:
            asks = asyncio.ensure_future(self.other.claim(item, own=True))
            await asyncio.sleep(self._moment() / 2)
            os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(self._moment())
            asks.cancel()
            try:
                return await asks
            except (asyncio.CancelledError, ClientFault):
                return None

        claim = self.loop.run_until_complete(ask())
        starts = reach(self.env)
        try:
            self.daemon = int(starts.get("/healthz")["pid"])
        finally:
            starts.close()
        if claim is not None:
            self.loop.run_until_complete(claim.release())
        return claim is None


class Elsewhere:
    """A holder in a process of its own."""

    def __init__(self, env: dict[str, str], question: connection.Question) -> None:
        self._read, theirs = os.pipe()
        their_turn, self._go = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            client = reach(env, autostart=False)
            claims.ask(client, question)
            os.write(theirs, b".")
            os.read(their_turn, 1)
            os._exit(0)  # the next waiter gets it through this death
        os.close(theirs)
        os.close(their_turn)
        os.read(self._read, 1)

    def release(self) -> None:
        os.write(self._go, b".")

    def close(self) -> None:
        os.waitpid(self._pid, 0)
        os.close(self._read)
        os.close(self._go)


WAY: dict[str, Callable[[Scene, str], bool]] = {
    "cancelled": Scene.cancelled,
    "interrupted": Scene.interrupted,
    "disconnected": Scene.disconnected,
    "as it is granted": Scene.as_it_is_granted,
    "silent": Scene.silent,
    "killed": Scene.killed,
}


def main() -> None:
    seed, rounds, seconds, naive = (float(word) for word in sys.argv[1:])
    scene = Scene(int(seed), naive=bool(naive))
    until = time.monotonic() + seconds
    while scene.counts["rounds"] < rounds and time.monotonic() < until:
        scene.round()
        if scene.counts["rounds"] % 500 == 0:
            print(json.dumps({"rounds": scene.counts["rounds"]}), flush=True)
    try:
        scene.counts["held at the end"] = len(scene.client.claims())
    except Refused:
        scene.counts["held at the end"] = -1
    print(json.dumps({**scene.counts, "daemon": scene.daemon}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
