"""The fleet as the daemon sees it: joined or not, and who answers for an item.

Rules
  1. A daemon that has not joined pays nothing: the database driver is not even imported.
  2. Joining is refused while shared kinds of items are held here: their holders would be known to nobody else.
  3. Leaving frees what this host holds, for all to see.
  4. The password is written to its own file and is in no answer, log or event.
  5. Joining and leaving are one at a time, and while one goes on nobody decides about shared items.
  6. A fleet that cannot be gone on with (the driver is gone, a file is damaged) keeps nothing local from starting:
     shared items are refused, and why is said.

Not here: what runs while joined (while_joined.py), routes (routes/fleet.py).
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.core.claims.shared_with_fleet import mirrored
from headcount.core.liveness_proofs import Prove
from headcount.core.state.world import World
from headcount.core.values.claim import Freed, SharedFreed
from headcount.core.values.events import Event
from headcount.core.values.evidence import FleetNews, Tick
from headcount.core.values.item import Item, is_shared
from headcount.daemon.engine.call_observers import EVERY
from headcount.daemon.engine.loop import Loop
from headcount.daemon.fleet.host_files import FleetFiles, Joined, default_name
from headcount.daemon.fleet.intervals import Intervals
from headcount.store.fleet_interface import SharedUnavailable, Superseded
from headcount.system.clock import Clock

if TYPE_CHECKING:
    from headcount.daemon.fleet.while_joined import JoinedHost


log = logging.getLogger("headcount.fleet")


class NotJoined(Exception):
    pass


class JoinRefused(Exception):
    """`code` for programs, the text for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Fleet:
    wants = EVERY

    def __init__(self, state: Path, loop: Loop, clock: Clock, prove: Prove, pace: Intervals) -> None:
        self._files = FleetFiles(state)
        self._loop = loop
        self._clock = clock
        self._prove = prove
        self._pace = pace
        self._member: JoinedHost | None = None
        self._changing = asyncio.Lock()
        self._nobody: str | None = None  # why nobody decides about shared items now
        self.where = ""  # for people: the database, without what opens it

    @property
    def is_joined(self) -> bool:
        return self._member is not None or self._nobody is not None

    @property
    def fault(self) -> str | None:
        """Why nobody decides about shared items now, if so."""
        if self._nobody is not None or self._member is None or self._member.lease.holds:
            return self._nobody
        return f"the fleet cannot be reached: {self._member.lease.fault or 'the lease ran out'}"

    @property
    def member(self) -> "JoinedHost":
        """Raises `NotJoined`, or `SharedUnavailable` while nobody decides."""
        if self._nobody is not None:
            raise SharedUnavailable(self._nobody)
        if self._member is None:
            raise NotJoined
        return self._member

    def member_of(self, item: Item) -> "JoinedHost | None":
        """Who answers for that item, if it is not this daemon's own ledger."""
        return self.member if is_shared(item) and self.is_joined else None

    def noticed(self, events: Sequence[Event], world: World) -> None:
        if self._member is not None:
            self._member.noticed(events)

    # --- its life --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Goes on with the fleet that was joined before; the database may be away."""
        try:
            joined = self._files.read()
            if joined is not None:
                self._member = self._made(joined)
                self._loop.world.known_as = joined.name
                self._member.start()
        except Exception as fault:  # also what a driver of another version makes of the address
            log.exception("the fleet that was joined cannot be gone on with")
            text = str(fault) if isinstance(fault, JoinRefused | OSError) else type(fault).__name__
            self._nobody = (
                f"the fleet cannot be gone on with: {text} To forget it: headcount fleet leave --anyway"
            )

    async def close(self) -> None:
        if self._member is not None:
            await self._member.close()

    async def join(self, address: str, name: str | None) -> "JoinedHost":
        async with self._changing:
            if self._member is not None or self._nobody is not None:
                return await self._given_anew(address, name)
            with self._nobody_decides("this host is just joining a fleet"):
                await self._check_nothing_held()
                member = await self._enrolled(address, name)
            self._member, self._loop.world.known_as = member, member.name
        member.start()
        self._loop.put(FleetNews("joined", self._clock.now(), self.where))
        return member

    async def _given_anew(self, address: str, name: str | None) -> "JoinedHost":
        """The fleet that was joined, with another password, user or options: a new life of this host there, in
        which the living keep their claims. Another fleet is refused."""
        with _driver():
            from headcount.store.postgres.address import is_same_place, parse_address, passfile_line
        before, parsed = self._files.read_or_none(), parse_address(address)
        if (
            before is None
            or not is_same_place(before.conninfo, parsed.conninfo)
            or name not in (None, before.name)
        ):
            raise JoinRefused(
                "joined",
                f"This host has joined a fleet already ({self.where or 'its file is damaged'}). "
                "Leave it first: headcount fleet leave",
            )
        old, password = self._member, self._files.password_line()
        joined = Joined(before.name, parsed.conninfo)
        with self._nobody_decides("this host is just joining its fleet anew"):
            if old is not None:
                await old.close()
            self._files.write_password(None if parsed.password is None else passfile_line(parsed.password))
            member = self._made(joined)
            try:
                await member.enrol()
                self._files.write(joined)
            except BaseException:
                await member.close()
                self._files.write_password(password)
                self._member = self._made(before)
                self._member.start()
                raise
            self._member, self._loop.world.known_as = member, member.name
        member.start()
        return member

    async def _enrolled(self, address: str, name: str | None) -> "JoinedHost":
        with _driver():
            from headcount.store.postgres.address import parse_address, passfile_line
        parsed = parse_address(address)
        joined = Joined(name or default_name(), parsed.conninfo)
        self._files.write_password(None if parsed.password is None else passfile_line(parsed.password))
        member = self._made(joined)
        try:
            if await self._is_taken(member):
                raise JoinRefused("name-taken", f"Another living host of that fleet is called {member.name}.")
            await member.enrol()
            self._files.write(joined)
        except BaseException:  # also a stop, or a caller that is cut off: nothing of it stays
            self._files.remove()
            await member.close()
            raise
        return member

    async def leave(self, *, anyway: bool) -> tuple[int, int]:
        """How many claims were freed, and how many stay closed for a while. `anyway`: also when the database
        cannot be told."""
        async with self._changing:
            freed = closed = 0
            try:
                freed = await self._taken_leave(self.member)
            except SharedUnavailable:
                if not anyway:
                    raise
                closed = len(mirrored(self._loop.world))
            member, self._member, self._nobody = self._member, None, None
            if member is not None:
                await member.close()
            self._files.remove()
            self._loop.world.known_as = None
        for claim in mirrored(self._loop.world):
            self._loop.put(SharedFreed(claim.item, claim.fence, Freed.FORCED, "fleet leave"))
        self._loop.put(FleetNews("left", self._clock.now(), self.where))
        return freed, closed

    async def _taken_leave(self, member: "JoinedHost") -> int:
        """It vouches for nothing before the others may take it, and does not enrol again behind our back."""
        await member.rest("this host is just leaving the fleet")
        try:
            return await member.ledger.leave()
        except Superseded:
            return 0  # what is there is another daemon's
        except BaseException:
            member.start()
            raise

    @contextlib.contextmanager
    def _nobody_decides(self, because: str) -> Iterator[None]:
        self._nobody = because
        try:
            yield
        finally:
            self._nobody = None

    async def _is_taken(self, member: "JoinedHost") -> bool:
        from headcount.store.postgres.pool import migrate

        await migrate(member.link)
        return await member.ledger.namesake(member.name)

    async def _check_nothing_held(self) -> None:
        """Whoever was let in before is decided first."""
        await asyncio.sleep(0)
        await self._loop.ask(Tick())
        held = mirrored(self._loop.world)
        if held:
            named = ", ".join(claim.item for claim in held[:5])
            raise JoinRefused("held-here", f"{named} would be shared and is held here. Release it first.")

    def _made(self, joined: Joined) -> "JoinedHost":
        with _driver():
            from headcount.daemon.fleet.while_joined import JoinedHost
            from headcount.store.postgres.address import shown, with_passfile
        self.where = shown(joined.conninfo)
        conninfo = with_passfile(joined.conninfo, self._files.passfile)
        host = self._files.host()
        return JoinedHost(conninfo, host, joined.name, self._loop, self._clock, self._prove, self._pace)


@contextlib.contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise JoinRefused(
            "no-driver", "The fleet needs PostgreSQL's driver. In the checkout: pip install '.[fleet]'"
        ) from error
