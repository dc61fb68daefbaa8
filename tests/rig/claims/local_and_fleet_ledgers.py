"""Ledgers for the contract suite: our own on SQLite, and a fleet's on PostgreSQL, asked in the same words.

Rules of this file
  1. The loop, the store and the database are real; who lives and who cannot be asked is what the test says.
  2. A desk is one host. Two desks on one database are two hosts of a fleet.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Answer, Caller, CallerKind, HandOff, Release, Withdraw
from headcount.core.values.evidence import Judged
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId
from headcount.core.values.verdict import Proof, Verdict, alive, dead, unknown
from headcount.daemon.engine.loop import Loop
from headcount.daemon.engine.recovery import open_book
from headcount.daemon.fleet.intervals import Intervals
from headcount.daemon.fleet.while_joined import JoinedHost
from headcount.store.postgres.address import with_passfile
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.clock import SystemClock
from tests.rig.core_values import HERE, bound, start

OPERATOR = Caller(None, kind=CallerKind.OPERATOR)
PACE = Intervals(0.05)  # a lease of 1.5 s, renewed every 0.5 s, a lock-delay of 0.75 s


class LocalDesk:
    """A loop on a store of its own."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.clock = SystemClock()
        self.store = SqliteStore.open(directory / "headcount.db", machine="machine", now=self.clock.now)
        self.world = World(HERE, self.store.loaded.sessions, self.store.loaded.seq, self._book())
        self.dead: set[ProcessIdentity] = set()
        self.hidden: set[ProcessIdentity] = set()
        self.told: list[Any] = []
        self.loop = Loop(
            self.world,
            self.store,
            self.clock,
            start_effects=lambda effects: None,
            tell=lambda events, world: self.noticed(events),
            prove=self.prove,
        )
        self.running: asyncio.Task[None] | None = None
        self.asked = 0

    def _book(self) -> Any:
        return open_book(self.store.loaded, self.clock.now())

    def noticed(self, events: Any) -> None:
        self.told += events

    def prove(self, process: ProcessIdentity) -> Verdict:
        if process in self.hidden:
            return unknown("no descriptor left")
        return dead(Proof.EXITED, "exited") if process in self.dead else alive("it lives")

    @property
    def ledger(self) -> Any:
        return self.loop

    async def open(self) -> "LocalDesk":
        self.running = asyncio.create_task(self.loop.run())
        return self

    async def close(self) -> None:
        assert self.running is not None
        self.loop.stop()
        await asyncio.wait([self.running])
        self.store.close()

    # --- asking --------------------------------------------------------------------------------------

    def request(self) -> str:
        self.asked += 1
        return f"{id(self)}-{self.asked}"

    async def acquire(
        self,
        item: str,
        process: ProcessIdentity | None,
        *,
        wait: float | None = None,
        request: str | None = None,
        above: Iterable[ProcessIdentity] = (),
        **more: Any,
    ) -> Answer:
        until = None if wait is None else self.clock.now() + wait
        asks = Acquire(
            Item(item),
            Caller(process, above=tuple(above)),
            request or self.request(),
            wait_until=until,
            **more,
        )
        answer: Answer = await self.ledger.command(asks)
        return answer

    async def release(self, item: str, process: ProcessIdentity, fence: int | None = None) -> Any:
        return await self.ledger.command(Release(Item(item), Caller(process), fence))

    async def force(self, item: str, caller: Caller = OPERATOR) -> Any:
        return await self.ledger.command(Release(Item(item), caller, force=True))

    async def hand_off(self, item: str, process: ProcessIdentity, to: str, fence: int | None = None) -> Any:
        return await self.ledger.command(HandOff(Item(item), SessionId(to), Caller(process), fence))

    async def withdraw(self, request: str, item: str, process: ProcessIdentity | None) -> Any:
        """By that process, or because a connection ended."""
        caller = None if process is None else Caller(process)
        return await self.ledger.command(Withdraw(request, Item(item), caller))

    async def waiting(self, item: str) -> int:
        return len(self.world.book.waiting.get(Item(item), ()))

    async def die(self, process: ProcessIdentity) -> None:
        self.dead.add(process)
        await self.loop.ask(Judged(process, self.prove(process), self.clock.now()))

    async def host(self, process: ProcessIdentity, conversation: str) -> SessionId:
        found = await self.loop.ask(start(self.clock.now(), conversation, anchor=bound(process)))
        assert isinstance(found, str)
        return SessionId(found)

    def holder(self, item: str) -> ProcessIdentity | None:
        claim = self.world.book.claims.get(Item(item))
        return claim.holder if claim else None

    def freed(self, item: str) -> list[str]:
        """Why that item was freed here, each time."""
        return [
            str(event.facts["because"])
            for event in self.told
            if event.item == item and event.type.value == "claim.released"
        ]


class FleetDesk(LocalDesk):
    """The same with shared items kept in a fleet's database."""

    def __init__(self, directory: Path, address: str, name: str, pace: Intervals = PACE) -> None:
        super().__init__(directory)
        self.member = JoinedHost(
            with_passfile(address, None), f"host-{name}", name, self.loop, self.clock, self.prove, pace
        )

    def noticed(self, events: Any) -> None:
        super().noticed(events)
        self.member.noticed(events)

    @property
    def ledger(self) -> Any:
        return self.member.claims

    async def waiting(self, item: str) -> int:
        _, waiting = await self.member.ledger.held()
        return waiting.get(Item(item), 0)

    async def open(self) -> "FleetDesk":
        await super().open()
        await self.member.enrol()
        self.member.start()
        return self

    async def close(self) -> None:
        await self.member.close()
        await super().close()
