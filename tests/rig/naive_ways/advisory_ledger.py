"""The naive shared ledger: session advisory locks, trusted for as long as one remembers having taken them.

As several earlier tools do it. It is put under the very same daemon, in place of the row leases.
"""

ADVISORY = """
from hashlib import blake2b
import psycopg
from headcount.core.values.claim import Claim, Freed, Granted, Held, ClaimRefused, Released
from headcount.core.values.claim import Acquire, Release
from headcount.daemon.fleet.shared_claims import SharedClaims
from headcount.daemon.fleet.shared_claims import Lease
from headcount.store.postgres.ledger import PostgresLedger
from headcount.store.fleet_interface import SharedClaim, SharedUnavailable

Lease.holds = property(lambda self: True)

def key(item):
    return int.from_bytes(blake2b(item.encode(), digest_size=8).digest(), "big", signed=True)

async def ask(self, sql, *values):
    line = getattr(self.ledger, "line", None)
    try:
        if line is None or line.closed:
            line = self.ledger.line = await self.ledger._link.connect()
        return (await (await line.execute(sql, values)).fetchone())[0]
    except psycopg.Error as error:
        self.ledger.line = None
        raise SharedUnavailable(str(error))

async def command(self, command):
    mine = self.ledger.__dict__.setdefault("mine", {})
    item, asker = command.item, command.caller.process
    known = mine.get(item)
    if isinstance(command, Release):
        if known is None or not known.is_held_by(asker):
            return ClaimRefused("not-held", "not held")
        await ask(self, "SELECT pg_advisory_unlock(%s)", key(item))
        return Released(mine.pop(item), Freed.RELEASED)
    assert isinstance(command, Acquire)
    if known is not None:
        return Granted(known, again=True) if known.is_held_by(asker) else Held(known)
    if not await ask(self, "SELECT pg_try_advisory_lock(%s)", key(item)):
        return Held(None)
    fence = await ask(self, "SELECT (extract(epoch FROM clock_timestamp()) * 10000)::bigint")
    mine[item] = Claim(item, fence, asker)
    return Granted(mine[item])

async def read(self, items):
    mine = self.__dict__.setdefault("mine", {})
    return {item: SharedClaim(mine[item], self._me.host) for item in items if item in mine}

SharedClaims.command = command
PostgresLedger.read = read
"""
