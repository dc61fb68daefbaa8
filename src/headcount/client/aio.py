"""`headcount.AsyncClient`: the daemon for asyncio programs. The same calls as `headcount.Client`, awaited.

Rules of this file
  1. Calls run side by side: one that waits in line holds up no other.
  2. Starting a daemon and comparing versions is the plain client's work, done once, in a thread.
  3. A cancelled wait gives its place in line up.

Not here: connections (aio_connection.py), values (values.py), the questions (ledger.py).
"""

import asyncio
import inspect
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headcount import times
from headcount.client import ledger
from headcount.client.aio_connection import Links
from headcount.client.api import environment, heard_of
from headcount.client.faults import Broken, NotRunning, Refused, Unavailable
from headcount.client.reach import Client as Reach
from headcount.client.reach import quoted, reach
from headcount.client.token import credential
from headcount.client.values import Claim, Event, Me, Session, claim_fields, is_over, listed

log = logging.getLogger("headcount.client")

OnSession = Callable[[Session], object | Awaitable[object]]


class AsyncClient:
    """Asks the daemon of this user; starts one when there is none.

    >>> async with headcount.AsyncClient() as client:
    ...     async with await client.claim("task:AUTH-12", wait=600, own=True) as claim:
    ...         await work(fence=claim.fence)
    """

    def __init__(
        self, home: str | None = None, *, autostart: bool = True, env: Mapping[str, str] | None = None
    ) -> None:
        found = environment(home, env)
        self._reach: Reach = reach(found, autostart=autostart)
        self._links = Links(self._reach.places.socket, credential(found))
        self._meeting = asyncio.Lock()
        self._met = False
        self._listening: set[asyncio.Task[None]] = set()

    # --- claims --------------------------------------------------------------------------------------

    async def claim(
        self,
        item: str,
        *,
        wait: float = 0.0,
        note: str | None = None,
        acting_as: str | None = None,
        until_empty: bool = False,
        own: bool = False,
        request: str | None = None,
    ) -> "AsyncClaim":
        """Ask for an item; wait up to `wait` seconds in line. The result says whether it was granted."""
        question = ledger.acquire(
            item,
            request=request,
            wait=wait,
            note=note,
            acting_as=acting_as,
            until_empty=until_empty,
            own=own,
        )
        return AsyncClaim(**claim_fields(await self._ask(question)), client=self, acting_as=acting_as)

    async def release(
        self, item: str, *, fence: int | None = None, force: bool = False, acting_as: str | None = None
    ) -> None:
        """Give an item back. `Refused` when it is not the caller's, `NotFound` when nobody holds it."""
        await self._ask(ledger.release(item, fence=fence, force=force, acting_as=acting_as))

    async def check(self, item: str, fence: int) -> bool:
        """Whether that number is the item's current one: for whoever guards a resource."""
        return (await self._ask(ledger.check(item, fence))).get("current") is True

    async def claims(self) -> list[Claim]:
        """All that is held now, the oldest first."""
        return listed(await self._ask(ledger.held()))

    async def history(self, item: str) -> list[Event]:
        """What became of an item, as far back as the journal goes."""
        return [Event.of(event) for event in (await self._ask(ledger.held(item))).get("history") or ()]

    async def handoff(self, item: str, to: str, *, fence: int | None = None) -> Claim:
        """Give a claim to another live session; the returned one has the new number."""
        return Claim(**claim_fields(await self._ask(ledger.hand_off(item, to, fence=fence))))

    # --- who is there --------------------------------------------------------------------------------

    async def whoami(self) -> Me | None:
        """The session that this process belongs to; None outside every agent."""
        try:
            return Me.of(await self._ask(ledger.who_am_i()))
        except Refused as refused:
            if refused.code == "not-an-agent":
                return None
            raise

    async def sessions(self, *, ended: bool = False) -> list[Session]:
        path = "/v1/sessions?all=1" if ended else "/v1/sessions"
        return [Session.of(row) for row in (await self._ask(ledger.Question("GET", path)))["sessions"]]

    async def session(self, wanted: str) -> Session:
        """By id, the beginning of one, or name. `NotFound` when there is none."""
        return Session.of(await self._ask(ledger.Question("GET", f"/v1/sessions/{quoted(wanted)}")))

    async def events(self, since: int | None = None) -> AsyncIterator[Event]:
        """What happens, as it happens, for ever; resumed after a restart of the daemon. Begins with a
        `snapshot`, or, with `since`, with what came after that number."""
        async for data in self._follow(since):
            yield Event.of(data)

    async def on_start(self, call: OnSession) -> asyncio.Task[None]:
        """Call back for each session that starts from now on. Cancel the task to end it."""
        return await self._on("session.started", call)

    async def on_end(self, call: OnSession) -> asyncio.Task[None]:
        """Call back for each session that ends from now on. Cancel the task to end it."""
        return await self._on("session.ended", call)

    # --- its life ------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Claims stay: they belong to the process, not to the connection."""
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        self._links.close()
        self._reach.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- asking --------------------------------------------------------------------------------------

    async def _ask(self, question: ledger.Question) -> dict[str, Any]:
        await self._meet()
        try:
            return ledger.understood(await self._links.call(question))
        except NotRunning:
            self._met = False  # it stopped since: start one, as the plain client does
            await self._meet()
        except Broken:
            if not question.again and question.method != "GET":
                raise
            await asyncio.sleep(times.CONNECT_RETRY_EVERY)
            self._met = False
            await self._meet()
        return ledger.understood(await self._links.call(question))

    async def _meet(self) -> None:
        async with self._meeting:
            if not self._met:
                self._reach.started = False
                await asyncio.to_thread(self._reach.get, "/healthz")
                self._reach.close()
                self._met = True

    async def _follow(self, since: int | None) -> AsyncIterator[dict[str, Any]]:
        await self._meet()
        last, away = since, 0.0
        clock = asyncio.get_running_loop().time
        while True:
            try:
                async for event in self._links.stream(last):
                    away = 0.0
                    data = json.loads(event.data)
                    if event.type == "snapshot":
                        data = {"type": "snapshot", **data}
                    last = int(data["seq"])
                    yield data
            except (Broken, NotRunning) as fault:
                away = away or clock()
                if clock() - away > times.START_AGAIN_AFTER:
                    raise Unavailable("The headcount daemon has stopped.", "headcount up") from fault
                await asyncio.sleep(times.CONNECT_RETRY_EVERY)

    async def _on(self, kind: str, call: OnSession) -> asyncio.Task[None]:
        stream = self._follow(None)
        await anext(stream)  # the snapshot: from here on nothing is missed
        task = asyncio.create_task(_called_back(stream, heard_of(kind, call)))
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        return task


async def _called_back(stream: AsyncIterator[dict[str, Any]], heard: Callable[[dict[str, Any]], Any]) -> None:
    """A callback that raises is logged and not called again."""
    async for data in stream:
        try:
            answer = heard(data)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            log.exception("a callback failed and is not called again")
            return


@dataclass(frozen=True, slots=True)
class AsyncClaim(Claim):
    """A claim with its client: `async with await client.claim(…) as claim:` gives back what it was granted."""

    client: AsyncClient = field(repr=False, compare=False)
    acting_as: str | None = None

    async def release(self) -> None:
        """Give it back; harmless when it is over already, or is the claim of the agent above."""
        if not self.granted or self.under is not None:
            return
        try:
            await self.client.release(self.item, fence=self.fence, acting_as=self.acting_as)
        except Refused as refused:
            if not is_over(refused):
                raise

    async def is_current(self) -> bool:
        return self.fence is not None and await self.client.check(self.item, self.fence)

    async def __aenter__(self) -> "AsyncClaim":
        self.need()
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self.again:  # the outer `with` of the same process gives it back
            await self.release()
