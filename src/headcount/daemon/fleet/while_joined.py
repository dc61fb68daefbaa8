"""A member: what runs while this host has joined a fleet. Imported only then.

Rules
  1. Enrolling, renewing, listening, freeing and the roster each go on by themselves; none waits for another, and
     none of their faults reaches what is local.
  2. A renewal is sent with the clock read before it. What the ledger says is ours is compared at each one.
  3. The database is tried again with growing pauses. Being away and being back are told once each.

Not here: joining and leaving (membership.py), commands (shared_claims.py), SQL (store/postgres/).
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence

from msgspec.structs import replace

from headcount import __version__
from headcount.core.liveness_proofs import Prove
from headcount.core.values.events import Event
from headcount.core.values.evidence import FleetNews
from headcount.core.values.item import Item
from headcount.daemon.engine.loop import Loop
from headcount.daemon.fleet.claim_mirror import Mirror
from headcount.daemon.fleet.intervals import Intervals
from headcount.daemon.fleet.roster import Roster
from headcount.daemon.fleet.shared_claims import Lease, SharedClaims
from headcount.store.fleet_interface import Forgotten, Host, Membership, SharedUnavailable, Superseded
from headcount.store.postgres.connect import Connection
from headcount.store.postgres.ledger import CHANNEL, PostgresLedger
from headcount.store.postgres.pool import Pool, migrate
from headcount.store.postgres.roster import PostgresRoster
from headcount.system.clock import Clock
from headcount.times import PRUNE_EVERY

log = logging.getLogger("headcount.fleet")


class JoinedHost:
    def __init__(
        self, conninfo: str, host: str, name: str, loop: Loop, clock: Clock, prove: Prove, pace: Intervals
    ) -> None:
        self.name = name
        self.host = host
        self.link = Pool(conninfo, pace.call_within)
        self.ledger = PostgresLedger(self.link, host, ttl=pace.ttl, lock_delay=pace.lock_delay)
        self.people = PostgresRoster(self.link, host)
        self.lease = Lease(clock, pace.ttl)
        self.claims = SharedClaims(self.ledger, loop, clock, prove, self.lease, pace)
        self._loop = loop
        self._clock = clock
        self._pace = pace
        self._mirror = Mirror(self.claims, loop, prove, pace)
        self._roster = Roster(self.people, loop)
        self._membership: Membership | None = None
        self._is_reconciled = False  # what the ledger has as ours was compared once in this life
        self._was_away = False
        self._tasks: list[asyncio.Task[None]] = []
        self._hosts: tuple[float, list[Host]] = (clock.boottime(), [])  # as read last, and when

    # --- its life --------------------------------------------------------------------------------------

    async def enrol(self) -> None:
        """Raises `SharedUnavailable`. Also brings the schema up to date."""
        await migrate(self.link)
        sent = self.lease.sending()
        self._membership = await self.ledger.enrol(self.name, __version__)
        await self._renew(sent)

    def start(self) -> None:
        for work, name in (
            (self._keep, "fleet-lease"),
            (self._listen, "fleet-listen"),
            (self._mirror.run, "fleet-free"),
            (self._roster.run, "fleet-roster"),
            (self._tidy, "fleet-tidy"),
        ):
            self._tasks.append(asyncio.create_task(_unbroken(work, self._pace), name=name))

    async def rest(self, because: str) -> None:
        """Nothing goes on by itself, and nothing is vouched for, until it is started again."""
        self.lease.given_up()
        self.lease.fault = because
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        await self.rest("this host has left the shared database")
        await self.claims.close()
        await self.link.close()

    def noticed(self, events: Sequence[Event]) -> None:
        self._mirror.noticed(events)
        self._roster.noticed(events)

    async def hosts(self) -> list[Host]:
        read = self._clock.boottime()
        self._hosts = (read, await self.people.hosts())
        return self._hosts[1]

    def last_hosts(self) -> list[Host]:
        """As they were when the database answered last, each that much older; nobody vouches for any of them."""
        read, hosts = self._hosts
        older = self._clock.boottime() - read
        return [replace(each, age=each.age + older, vouched=False) for each in hosts]

    # --- the lease -------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        delay = self._pace.retry_first
        while True:
            try:
                if self._membership is None:
                    await self.enrol()
                else:
                    await self._renew(self.lease.sending())
                delay = self._pace.retry_first
                await asyncio.sleep(self._pace.renew_every)
            except Forgotten:
                self._membership = None
            except Superseded as fault:
                self._overtaken(fault)
                await asyncio.sleep(self._pace.retry_most)
            except SharedUnavailable as fault:
                self._away(fault)
                await asyncio.sleep(delay)
                delay = min(delay * 2, self._pace.retry_most)

    async def _renew(self, sent: float) -> None:
        before = self._mirror.held()
        ours = await self.ledger.renew(self.claims.is_open)
        self.lease.renewed(sent)
        await self._mirror.reconcile(before, ours, starting=not self._is_reconciled)
        if not self._hosts[1]:
            await self.hosts()  # so that there is a last word of each, should the database go away
        if not self._is_reconciled or self._was_away:
            self._roster.send_all()
            self.claims.ring_all()
        if self._was_away:
            self._tell("back", "the shared database answers again")
        self._is_reconciled, self._was_away = True, False

    def _away(self, fault: SharedUnavailable) -> None:
        self.lease.fault = str(fault)
        if not self.lease.holds and not self._was_away:
            self._was_away = True
            log.warning("shared claims cannot be vouched for: %s", fault)
            self._tell("away", str(fault))

    def _overtaken(self, fault: Superseded) -> None:
        """Not enrolling again by ourselves: two daemons with one id would take turns for ever."""
        self.lease.given_up()
        self._away(fault)

    def _tell(self, what: str, because: str) -> None:
        self._loop.put(FleetNews(what, self._clock.now(), because))

    # --- hints -----------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Only ever a hint: behind a pooler nothing may come of it, and everybody looks again by themselves."""
        while True:
            try:
                await self.link.attend(self._begin_to_hear, self._hear)
            except SharedUnavailable as fault:
                log.info("hints of the fleet are not heard now: %s", fault)
            await asyncio.sleep(self._pace.retry_most)

    async def _begin_to_hear(self, connection: Connection) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        self.claims.ring_all()
        self._roster.send_all()  # it may have been restarted, and the roster need not have outlived that

    async def _hear(self, connection: Connection) -> None:
        async for hint in connection.notifies():
            item = Item(hint.payload)
            self.claims.ring(item)
            await self._mirror.look_at(item)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(PRUNE_EVERY)
            with contextlib.suppress(SharedUnavailable):
                await self.people.tidy()


async def _unbroken(work: Callable[[], Coroutine[object, object, None]], pace: Intervals) -> None:
    """A bug in what concerns the fleet must not end what is local: it is loud, and tried again."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("a chore of the fleet failed")
        await asyncio.sleep(pace.retry_most)
