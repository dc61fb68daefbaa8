"""`headcount.AsyncClient`: the daemon for asyncio programs. The same calls as `headcount.Client`, awaited.

Rules
  1. Calls run side by side: one that waits in line holds up no other.
  2. Starting a daemon and comparing versions is the plain client's work, done once, in a thread.
  3. A cancelled claim is withdrawn, whether it waits or was granted in that moment.
  4. A forked copy of the process begins anew, in a loop of its own: connections, tasks and claims stay with the process
     that made them.

Not here: connections (client/transport/async_connection.py), values (values.py), the questions (claims.py), what makes no sense (values.py).
"""

import asyncio
import inspect
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headcount import times
from headcount.client import claims
from headcount.client.daemon_access import credential, quoted, reach
from headcount.client.faults import Broken, NotRunning, Refused, Unavailable
from headcount.client.sync import environment, heard_of
from headcount.client.transport import connection
from headcount.client.transport.async_connection import AsyncConnections
from headcount.client.values import (
    NOT_AN_AGENT,
    Claim,
    Event,
    Me,
    Session,
    check_here,
    check_item,
    check_wish,
    claim_fields,
    in_python,
    is_over,
    listed,
)
from headcount.paths import Places

if TYPE_CHECKING:
    from headcount.wire.views import StreamEvent

log = logging.getLogger("headcount.client")

OnSession = Callable[[Session], object | Awaitable[object]]


class ProcessState:
    """What one process has of a client."""

    __slots__ = ("before", "links", "listening", "meeting", "met", "pid", "withdrawing")

    def __init__(self, env: Mapping[str, str], before: "ProcessState | None" = None) -> None:
        self.pid = os.getpid()
        self.links = AsyncConnections(Places.from_environ(env).socket, credential(env))
        self.meeting = asyncio.Lock()
        self.met = False
        self.listening: set[asyncio.Task[None]] = set()
        self.withdrawing: asyncio.Future[None] | None = None
        self.before = before  # whom we were forked from: its tasks are not ours to end, nor to lose


def _greet(env: Mapping[str, str], autostart: bool) -> None:
    """In a thread, which nobody can cancel: what it opens it closes itself."""
    one = reach(env, autostart=autostart)
    try:
        one.get("/healthz")
    finally:
        one.close()


class AsyncClient:
    """Asks the daemon of this user; starts one when there is none.

    >>> async with headcount.AsyncClient() as client:
    ...     async with await client.claim("task:AUTH-12", wait=600, own=True) as claim:
    ...         await work(fence=claim.fence)
    """

    def __init__(
        self, home: str | None = None, *, autostart: bool = True, env: Mapping[str, str] | None = None
    ) -> None:
        self.env = environment(home, env)
        self._autostart = autostart
        self._life = ProcessState(self.env)

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
        check_wish(item, wait, acting_as, own, note=note, request=request)
        question = claims.acquire(
            item,
            request=request,
            wait=wait,
            note=note,
            acting_as=acting_as,
            until_empty=until_empty,
            own=own,
        )
        try:
            answer = claim_fields(await self._ask(question))
            return AsyncClaim(**answer, client=self, question=question, acting_as=acting_as)
        except BaseException as fault:  # also a cancellation
            self.give_up(question, fault)
            if isinstance(fault, Refused):
                raise in_python(fault) from None
            raise

    async def release(
        self, item: str, *, fence: int | None = None, force: bool = False, acting_as: str | None = None
    ) -> None:
        """Give an item back. `Refused` when it is not the caller's, `NotFound` when nobody holds it."""
        check_item(item)
        await self._ask(claims.release(item, fence=fence, force=force, acting_as=acting_as))

    async def check(self, item: str, fence: int) -> bool:
        """Whether that number is the item's current one: for whoever guards a resource."""
        check_item(item)
        return (await self._ask(claims.check(item, fence))).get("current") is True

    async def claims(self) -> list[Claim]:
        """All that is held now, the oldest first."""
        return listed(await self._ask(claims.held()))

    async def history(self, item: str) -> list[Event]:
        """What became of an item, as far back as the journal goes."""
        check_item(item)
        return [Event.of(event) for event in (await self._ask(claims.held(item))).get("history") or ()]

    async def handoff(self, item: str, to: str, *, fence: int | None = None) -> Claim:
        """Give a claim to another live session; the returned one has the new number."""
        check_item(item)
        return Claim(**claim_fields(await self._ask(claims.hand_off(item, to, fence=fence))))

    # --- who is there --------------------------------------------------------------------------------

    async def whoami(self) -> Me | None:
        """The session that this process belongs to; None outside every agent."""
        try:
            return Me.of(await self._ask(claims.who_am_i()))
        except Refused as refused:
            if refused.code == NOT_AN_AGENT:
                return None
            raise

    async def sessions(self, *, ended: bool = False) -> list[Session]:
        path = "/v1/sessions?all=1" if ended else "/v1/sessions"
        return [Session.of(row) for row in (await self._ask(connection.Question("GET", path)))["sessions"]]

    async def session(self, wanted: str) -> Session:
        """By id, the beginning of one, or name. `NotFound` when there is none."""
        return Session.of(await self._ask(connection.Question("GET", f"/v1/sessions/{quoted(wanted)}")))

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
        life = self._here()
        for task in life.listening:
            task.cancel()
        await asyncio.gather(*life.listening, return_exceptions=True)
        life.links.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- asking --------------------------------------------------------------------------------------

    def give_up(self, question: connection.Question, fault: BaseException | None = None) -> None:
        """Withdraw it in a thread, which nobody can cancel; `asyncio.run` waits for it. One thread for all of them: the
        program's own work may need the others."""
        if not claims.note(self.env, question, fault):
            return
        life = self._here()
        if life.withdrawing is not None and not life.withdrawing.done():
            return  # it goes on until nothing is left
        try:
            life.withdrawing = asyncio.get_running_loop().run_in_executor(None, claims.try_now, self.env)
        except RuntimeError:  # the loop is over
            claims.try_now(self.env)

    async def _ask(self, question: connection.Question) -> Any:
        life, began, spent = self._here(), time.monotonic(), 0.0
        was_started, broken = False, None
        if claims.is_unconfirmed(life.links.path):
            await asyncio.to_thread(claims.retry_withdrawals, self.env, autostart=self._autostart)
        while True:
            try:
                await self._meet(life)
                return claims.understood(await life.links.call(question.after(spent)))
            except NotRunning as fault:  # it stopped since: start one, as the plain client does
                if was_started:
                    raise broken or fault from None  # what broke may have been heard
                was_started = True
            except Broken as fault:
                was_started, broken = False, fault
                if (not question.again and question.method != "GET") or spent >= question.within:
                    raise
                await asyncio.sleep(times.CONNECT_RETRY_EVERY)
            life.met = False
            spent = time.monotonic() - began

    async def _meet(self, life: ProcessState) -> None:
        async with life.meeting:
            if not life.met:
                await asyncio.to_thread(_greet, self.env, self._autostart)
                life.met = True

    def _here(self) -> ProcessState:
        if self._life.pid != os.getpid():
            self._life.links.close()
            self._life = ProcessState(self.env, self._life)
        return self._life

    async def _follow(self, since: int | None) -> "AsyncIterator[StreamEvent]":
        await self._meet(self._here())
        last, away = since, 0.0
        clock = asyncio.get_running_loop().time
        while True:
            try:
                async with aclosing(self._here().links.stream(last)) as events:
                    is_first = True
                    async for event in events:
                        away = 0.0
                        if event.type == "dropped" or (event.type == "snapshot" and not is_first):
                            break  # we fell behind: the journal has every event since the last one
                        is_first = False
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
        listening = self._here().listening
        listening.add(task)
        task.add_done_callback(listening.discard)
        return task


async def _called_back(
    stream: "AsyncIterator[StreamEvent]", heard: "Callable[[StreamEvent], object]"
) -> None:
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
    question: connection.Question = field(repr=False, compare=False)
    acting_as: str | None = None
    asked_by: int = field(default_factory=os.getpid, repr=False, compare=False)  # the process

    async def release(self) -> None:
        """Give it back; harmless when it is over already, or is the claim of the agent above. `WrongCall` in a forked
        copy of the process that asked."""
        if not self.granted or self.under is not None:
            return
        check_here(self.item, self.asked_by)
        try:
            await self.client.release(self.item, fence=self.fence, acting_as=self.acting_as)
        except Refused as refused:
            if not is_over(refused):
                raise

    async def is_current(self) -> bool:
        return self.fence is not None and await self.client.check(self.item, self.fence)

    async def __aenter__(self) -> "AsyncClaim":
        self.need()
        check_here(self.item, self.asked_by)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.asked_by != os.getpid():
            return  # a forked copy gives nothing back
        try:
            if not self.again:
                await self.release()
                return
        except BaseException:  # not given back, as far as we know: withdrawn once the daemon can be asked
            self.client.give_up(self.question)
            raise
        # The outer `with` of the same process gives it back, unless its caller has given up since.
        claims.note(self.client.env, self.question)
        await asyncio.to_thread(claims.try_now, self.client.env)
