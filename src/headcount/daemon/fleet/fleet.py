"""The fleet as the daemon sees it: joined or not, and who answers for an item.

Rules of this file
  1. A daemon that has not joined pays nothing: the database driver is not even imported.
  2. Joining is refused while shared kinds of items are held here: their holders would be known to nobody else.
  3. Leaving frees what this host holds, for all to see.
  4. The password is written to its own file and is in no answer, log or event.

Not here: what runs while joined (member.py), routes (routes/fleet.py).
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.core.claim import Freed
from headcount.core.commands import SharedFreed
from headcount.core.events import Event
from headcount.core.evidence import FleetNews
from headcount.core.item import Item, is_shared
from headcount.core.shared import mirrored
from headcount.daemon.fleet.files import FleetFiles, Joined, default_name
from headcount.daemon.fleet.pace import Pace
from headcount.daemon.loop import Loop, Prove
from headcount.store.shared import SharedUnavailable
from headcount.system.clock import Clock

if TYPE_CHECKING:
    from headcount.daemon.fleet.member import Member


class NotJoined(Exception):
    pass


class JoinRefused(Exception):
    """`code` for programs, the text for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Fleet:
    def __init__(self, state: Path, loop: Loop, clock: Clock, prove: Prove, pace: Pace) -> None:
        self._files = FleetFiles(state)
        self._loop = loop
        self._clock = clock
        self._prove = prove
        self._pace = pace
        self._member: Member | None = None
        self.where = ""  # for people: the database, without what opens it

    @property
    def is_joined(self) -> bool:
        return self._member is not None

    @property
    def member(self) -> "Member":
        if self._member is None:
            raise NotJoined
        return self._member

    def member_of(self, item: Item) -> "Member | None":
        """Who answers for that item, if it is not this daemon's own ledger."""
        return self._member if is_shared(item) else None

    def noticed(self, events: Sequence[Event]) -> None:
        if self._member is not None:
            self._member.noticed(events)

    # --- its life --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Goes on with the fleet that was joined before; the database may be away."""
        joined = self._files.read()
        if joined is not None:
            self._member = self._made(joined)
            self._member.start()

    async def close(self) -> None:
        if self._member is not None:
            await self._member.close()

    async def join(self, address: str, name: str | None) -> "Member":
        self._check_can_join()
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
        except (SharedUnavailable, JoinRefused):
            self._files.remove()
            await member.close()
            raise
        self._files.write(joined)
        self._member = member
        member.start()
        self._loop.put(FleetNews("joined", self._clock.now(), self.where))
        return member

    async def leave(self, *, anyway: bool) -> int:
        """How many claims were freed. `anyway`: also when the database cannot be told."""
        member = self.member
        freed = 0
        try:
            freed = await member.ledger.leave()
        except SharedUnavailable:
            if not anyway:
                raise
        self._member = None
        await member.close()
        self._files.remove()
        for claim in mirrored(self._loop.world):
            self._loop.put(SharedFreed(claim.item, claim.fence, Freed.FORCED, "fleet leave"))
        self._loop.put(FleetNews("left", self._clock.now(), self.where))
        return freed

    async def _is_taken(self, member: "Member") -> bool:
        from headcount.store.postgres.schema import migrate

        await migrate(member.link)
        return await member.ledger.namesake(member.name)

    def _check_can_join(self) -> None:
        if self._member is not None:
            raise JoinRefused("joined", f"This host has joined a fleet already ({self.where}).")
        held = mirrored(self._loop.world)
        if held:
            named = ", ".join(claim.item for claim in held[:5])
            raise JoinRefused("held-here", f"{named} would be shared and is held here. Release it first.")

    def _made(self, joined: Joined) -> "Member":
        with _driver():
            from headcount.daemon.fleet.member import Member
            from headcount.store.postgres.address import shown, with_passfile
        self.where = shown(joined.conninfo)
        conninfo = with_passfile(joined.conninfo, self._files.passfile)
        host = self._files.host()
        return Member(conninfo, host, joined.name, self._loop, self._clock, self._prove, self._pace)


@contextlib.contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise JoinRefused(
            "no-driver", "The fleet needs PostgreSQL's driver. In the checkout: pip install '.[fleet]'"
        ) from error
