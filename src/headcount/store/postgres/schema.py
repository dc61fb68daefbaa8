"""The shared schema: its numbered migrations, each once, whoever comes first.

Rules of this file
  1. All missing migrations run in one transaction, under a lock that ends with it: two hosts that join at the
     same moment make one schema.
  2. A database of a newer version is refused before anything is written.
  3. Nothing is written where nothing is missing: a role without the right to make tables can join.

Not here: rights of roles (docs/fleet.md).
"""

from headcount.store.postgres.connect import Connection
from headcount.store.postgres.pool import Link
from headcount.store.postgres.queries import MIGRATIONS, SCHEMA_VERSION, query
from headcount.store.shared_interface import SharedNewerSchema

LOCK_KEY = 0x48434E54  # "HCNT"


async def migrate(link: Link) -> int:
    """The version that the database has now."""
    return await link.run(_migrated)


async def _migrated(connection: Connection) -> int:
    if await version_of(connection) < SCHEMA_VERSION:
        await connection.execute(query("lock_migrations"), {"key": LOCK_KEY})
        found = await version_of(connection)  # somebody may have been first
        if found < 0:
            await connection.execute(query("make_schema"))
            await connection.execute(query("make_version_table"))
        for step in MIGRATIONS[max(found, 0) :]:
            await connection.execute(step.sql)
            await connection.execute(query("keep_version"), {"version": step.number})
    found = await version_of(connection)
    if found > SCHEMA_VERSION:
        raise SharedNewerSchema(
            f"the fleet's database has schema version {found}, this headcount knows {SCHEMA_VERSION}: "
            "upgrade headcount on this host"
        )
    return found


async def version_of(connection: Connection) -> int:
    """-1: there is none."""
    cursor = await connection.execute(query("has_version_table"))
    row = await cursor.fetchone()
    if row is None or not row[0]:
        return -1
    row = await (await connection.execute(query("schema_version"))).fetchone()
    assert row is not None
    return int(row[0])
