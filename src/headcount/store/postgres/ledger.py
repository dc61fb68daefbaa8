"""The shared ledger on PostgreSQL: one row per item, locked while the rules decide on it.

Rules
  1. The rules are the core's (core/claims/shared_with_fleet.py), called between the lock and the commit. This file only
     reads what they need and stores what they decide.
  2. A transaction locks one item, then the counter of fencing tokens, in that order: no deadlock.
  3. A claim of another host is over only when its lease and the lock delay are, by the database's clock, with
     that host's row locked: a renewal comes before that or after it, never in between.
  4. Freed items and cancelled waiters are notified to all hosts, as a hint. Nobody relies on it.

Not here: the connection (pool.py), our own lease's deadline (daemon/fleet/shared_claims.py).
"""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.claims.shared_with_fleet import SharedCommand, SharedDecision, SharedItem
from headcount.core.state.claims import AnsweredRequest
from headcount.core.values.claim import Acquire, Answer, Claim, Freed, Granted, Waiting, Withdraw, freed
from headcount.core.values.item import Item
from headcount.store.fleet_interface import (
    Decide,
    Forgotten,
    Membership,
    SharedClaim,
    SharedEvent,
    SharedUnavailable,
    Superseded,
)
from headcount.store.postgres.connect import Connection, Row
from headcount.store.postgres.pool import Pool, query
from headcount.store.postgres.rows import (
    asks_of,
    asks_text,
    by_item,
    claim_of,
    claim_text,
    event_of,
    request_of,
    request_text,
    shared_claims,
)

CHANNEL = "headcount"


class Locked(Struct, frozen=True):
    """An item's row, while we hold its lock."""

    claim: Claim | None
    host: str | None
    now: float


class PostgresLedger:
    def __init__(self, link: Pool, host: str, *, ttl: float, lock_delay: float) -> None:
        self._link = link
        self._me = Membership(host, "")
        self._ttl = ttl
        self._lock_delay = lock_delay

    # --- our own lease -------------------------------------------------------------------------------

    async def enrol(self, name: str, version: str) -> Membership:
        wanted = {"host": self._me.host, "name": name, "version": version, "ttl": self._ttl}
        rows = await self._link.run(partial(_rows, "enrol", wanted))
        self._me = Membership(self._me.host, name, rows[0][0])
        return self._me

    async def namesake(self, name: str) -> bool:
        """Whether another living host is called so."""
        return bool(await self._link.run(partial(_rows, "namesake", {"name": name, "host": self._me.host})))

    async def renew(self, is_open: Callable[[str], bool]) -> list[SharedClaim]:
        return await self._link.run(partial(self._renewed, is_open))

    async def _renewed(self, is_open: Callable[[str], bool], connection: Connection) -> list[SharedClaim]:
        me = {"host": self._me.host, "epoch": self._me.epoch, "ttl": self._ttl}
        if (await connection.execute(query("renew"), me)).rowcount != 1:
            await self._check_own_lease(connection)
        waiting = [row[0] for row in await _rows("lines_of_host", me, connection)]
        closed = [request for request in waiting if not is_open(request)]  # asked after they were read
        if closed:
            await connection.execute(query("leave_lines"), {"closed": closed})
        return shared_claims(await _rows("claims_of_host", me, connection))

    async def leave(self) -> int:
        await self._link.run(self._check_own_place)
        claims = await self._link.run(partial(_rows, "claims_of_host", {"host": self._me.host}))
        for each in shared_claims(claims):
            await self.free(each.claim.item, each.claim.fence, Freed.FORCED, by="fleet leave")
        await self._link.run(partial(_execute, "leave", {"host": self._me.host, "epoch": self._me.epoch}))
        await self._link.run(partial(_execute, "forget_sessions_of_nobody", {}))
        return len(claims)

    # --- one item ------------------------------------------------------------------------------------

    async def decide(self, command: SharedCommand, decide: Decide, floor: int) -> Answer:
        return await self._link.run(partial(self._decided, command, decide, floor))

    async def _decided(
        self, command: SharedCommand, decide: Decide, floor: int, connection: Connection
    ) -> Answer:
        locked = await _lock(connection, command.item)
        await self._check_own_lease(connection)
        taken = await self._taken_over(connection, locked)
        claim = taken or locked.claim
        request = command.request if isinstance(command, Acquire | Withdraw) else ""
        decision = decide(
            SharedItem(
                claim,
                await _find_request(connection, request) if request else None,
                await _ahead(connection, command.item, request) if request else (),
                ours=locked.host == self._me.host,
            ),
            locked.now,
        )
        return await self._store(connection, command, decision, taken, floor)

    async def _check_own_place(self, connection: Connection) -> Row | None:
        lease = await self._lease(connection, self._me.host)
        if lease is not None and lease[2] != self._me.epoch:
            raise Superseded("another daemon has taken this host's place in the fleet")
        return lease

    async def _check_own_lease(self, connection: Connection) -> None:
        lease = await self._check_own_place(connection)
        if lease is None:
            raise Forgotten("this host is not in the fleet's list any more")
        if not lease[0]:
            raise SharedUnavailable("this host's lease in the fleet ran out and is not renewed yet")

    async def _taken_over(self, connection: Connection, locked: Locked) -> Claim | None:
        """The claim as freed, if its host has been away for too long."""
        if locked.claim is None or locked.host is None or locked.host == self._me.host:
            return None
        lease = await self._lease(connection, locked.host)
        if lease is not None and lease[1]:
            lease = await self._lease(connection, locked.host, "lease_of_locked")
        if lease is not None and not lease[1]:
            return None
        return freed(locked.claim, Freed.LEASE_LOST, locked.now)

    async def _lease(self, connection: Connection, host: str, *locked: str) -> Row | None:
        wanted = {"host": host, "lock_delay": self._lock_delay}
        cursor = await connection.execute(query("lease_of", *locked), wanted)
        return await cursor.fetchone()

    async def _store(
        self,
        connection: Connection,
        command: SharedCommand,
        decision: SharedDecision,
        taken: Claim | None,
        floor: int,
    ) -> Answer:
        for ended in (taken, decision.freed):
            if ended is not None:
                await self._put_free(connection, ended, None if ended is taken else _by(ended))
        answer = decision.answer
        if decision.granted is not None:
            answer = await self._put_grant(connection, decision, floor)
        elif decision.remembered is not None:
            await _keep_request(connection, decision.remembered)
        left = 0
        if isinstance(answer, Waiting):
            assert isinstance(command, Acquire)
            await self._wait(connection, command)
        elif isinstance(command, Acquire | Withdraw):
            wanted = {"request": command.request}
            if decision.forgotten:
                await connection.execute(query("forget_request"), wanted)
            left = (await connection.execute(query("leave_line"), wanted)).rowcount
        if (taken or decision.freed or (left and isinstance(command, Withdraw))) and decision.granted is None:
            await _notify(connection, command.item, always=_by(decision.freed) is not None)
        return answer

    async def _put_grant(self, connection: Connection, decision: SharedDecision, floor: int) -> Answer:
        claim = decision.granted
        assert claim is not None and isinstance(decision.answer, Granted)
        claim = replace(claim, host=self._me.name)
        wanted = {"item": claim.item, "host": self._me.host, "body": claim_text(claim), "floor": floor}
        row = await (await connection.execute(query("grant_item"), wanted)).fetchone()
        assert row is not None
        claim = replace(claim, fence=row[0])
        if decision.remembered is not None:
            await _keep_request(connection, replace(decision.remembered, claim=claim))
        await self._tell(connection, claim, granted=True)
        return replace(decision.answer, claim=claim)

    async def _put_free(self, connection: Connection, claim: Claim, by: str | None) -> None:
        wanted = {"item": claim.item, "fence": claim.fence, "body": claim_text(claim)}
        await connection.execute(query("free_item"), wanted)
        await self._tell(connection, claim, granted=False, by=by)

    async def _wait(self, connection: Connection, asks: Acquire) -> None:
        row = {
            "item": asks.item,
            "request": asks.request,
            "host": self._me.host,
            "epoch": self._me.epoch,
            "body": asks_text(asks),
        }
        await connection.execute(query("wait_in_line"), row)

    async def _tell(
        self, connection: Connection, claim: Claim, *, granted: bool, by: str | None = None
    ) -> None:
        because = None if granted or claim.freed is None else claim.freed.value
        row = {"item": claim.item, "host": self._me.host, "granted": granted, "because": because, "by": by}
        await connection.execute(query("tell"), {**row, "body": claim_text(claim)})

    async def free(
        self,
        item: Item,
        fence: int,
        because: Freed,
        forget: str | None = None,
        by: str | None = None,
        unless: Callable[[], bool] = lambda: False,
    ) -> bool:
        return await self._link.run(partial(self._freed, item, fence, because, forget, by, unless))

    async def _freed(
        self,
        item: Item,
        fence: int,
        because: Freed,
        forget: str | None,
        by: str | None,
        unless: Callable[[], bool],
        connection: Connection,
    ) -> bool:
        locked = await _lock(connection, item)
        if locked.claim is None or locked.host != self._me.host or locked.claim.fence != fence or unless():
            return False
        await self._put_free(connection, freed(locked.claim, because, locked.now), by)
        if forget is not None:
            await connection.execute(query("forget_request"), {"request": forget})
        await _notify(connection, item)
        return True

    # --- reading -------------------------------------------------------------------------------------

    async def read(self, items: Sequence[Item]) -> dict[Item, SharedClaim]:
        rows = await self._link.run(
            partial(_rows, "read_items", {"items": list(items), "lock_delay": self._lock_delay})
        )
        return by_item(shared_claims(rows))

    async def held(self) -> tuple[list[SharedClaim], dict[Item, int]]:
        return await self._link.run(partial(_held, self._lock_delay))

    async def history(self, item: Item, limit: int) -> list[SharedEvent]:
        rows = await self._link.run(partial(_rows, "item_history", {"item": item, "limit": limit}))
        return [event_of(row) for row in rows]


def _by(ended: Claim | None) -> str | None:
    """Forced: its holder may be on another host, which is to hear of it."""
    return "operator" if ended is not None and ended.freed is Freed.FORCED else None


async def _held(lock_delay: float, connection: Connection) -> tuple[list[SharedClaim], dict[Item, int]]:
    claims = shared_claims(await _rows("list_claims", {"lock_delay": lock_delay}, connection))
    return claims, {Item(item): count for item, count in await _rows("count_waiters", {}, connection)}


async def _lock(connection: Connection, item: Item) -> Locked:
    for _ in range(2):
        rows = await _rows("lock_item", {"item": item}, connection)
        if rows:
            fence, host, body, now = rows[0]
            return Locked(claim_of(fence, body), host, now)
        await connection.execute(query("open_item"), {"item": item})
    raise SharedUnavailable(f"{item} has no row that could be locked")


async def _find_request(connection: Connection, request: str) -> AnsweredRequest | None:
    rows = await _rows("find_request", {"request": request}, connection)
    return request_of(rows[0][0]) if rows else None


async def _ahead(connection: Connection, item: Item, request: str) -> tuple[Acquire, ...]:
    rows = await _rows("waiters_ahead", {"item": item, "request": request}, connection)
    return tuple(asks_of(row[0]) for row in rows)


async def _keep_request(connection: Connection, request: AnsweredRequest) -> None:
    row = {"request": request.id, "body": request_text(request)}
    await connection.execute(query("keep_request"), row)


async def _notify(connection: Connection, item: Item, *, always: bool = False) -> None:
    await connection.execute(query("notify"), {"channel": CHANNEL, "item": item, "always": always})


async def _rows(name: str, wanted: dict[str, object], connection: Connection) -> list[Row]:
    return await (await connection.execute(query(name), wanted)).fetchall()


async def _execute(name: str, wanted: dict[str, object], connection: Connection) -> int:
    return (await connection.execute(query(name), wanted)).rowcount
