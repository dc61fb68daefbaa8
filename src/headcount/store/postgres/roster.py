"""The roster on PostgreSQL: hosts with their age, and each host's sessions as that host shows them.

Rules
  1. Rows are written in sets, never one by one.
  2. Rows need not survive a crash of the database: they are sent again after it, and their commits wait for
     no sync.
  3. A host writes only its own rows. What is known of another host is as old as its last renewal.

Not here: when to send (daemon/fleet/roster.py), leases (ledger.py).
"""

from collections.abc import Mapping, Sequence
from functools import partial

from headcount.store.fleet_interface import Host, RosterRow
from headcount.store.postgres.connect import Connection, Row
from headcount.store.postgres.pool import Pool, query
from headcount.store.postgres.rows import host_of, roster_row
from headcount.times import FLEET_FORGET_AFTER, RETENTION


class PostgresRoster:
    def __init__(self, link: Pool, host: str) -> None:
        self._link = link
        self._host = host

    async def keep(
        self, rows: Mapping[str, str], dropped: Sequence[str] = (), *, whole: bool = False
    ) -> None:
        """`rows`: id -> body. `whole`: there are no others."""
        await self._link.run(partial(self._kept, rows, list(dropped), whole))

    async def _kept(
        self, rows: Mapping[str, str], dropped: list[str], whole: bool, connection: Connection
    ) -> None:
        await connection.execute(query("need_not_last"))
        if rows:
            wanted = {"host": self._host, "ids": list(rows), "bodies": list(rows.values())}
            await connection.execute(query("keep_sessions"), wanted)
        if whole:
            await connection.execute(query("drop_other_sessions"), {"host": self._host, "ids": list(rows)})
        elif dropped:
            await connection.execute(query("drop_sessions"), {"host": self._host, "ids": dropped})

    async def hosts(self) -> list[Host]:
        return [host_of(row) for row in await self._link.run(partial(_rows, "list_hosts"))]

    async def sessions(self) -> list[RosterRow]:
        return [roster_row(row) for row in await self._link.run(partial(_rows, "list_sessions"))]

    async def tidy(self) -> None:
        await self._link.run(_tidied)


async def _tidied(connection: Connection) -> None:
    await connection.execute(query("forget_hosts"), {"after": FLEET_FORGET_AFTER})
    await connection.execute(query("forget_sessions_of_nobody"))
    for name in ("forget_requests", "forget_events"):
        await connection.execute(query(name), {"after": RETENTION})


async def _rows(name: str, connection: Connection) -> list[Row]:
    return await (await connection.execute(query(name))).fetchall()
