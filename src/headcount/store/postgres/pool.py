"""A few connections to the shared database, one transaction at a time on each, and the schema's migrations.

Rules
  1. A call's deadline also holds on a line that swallows everything: the socket is shut under the driver,
     which then fails. A call is never cancelled: cancelling waits ten seconds for the very server that does
     not answer.
  2. No state is kept in a database session and no statement is prepared: a pooler in transaction mode may
     stand between.
  3. The first statement of each transaction tells the server to end what we leave open.
  4. A caller may go away; a transaction that has begun is finished.
  5. A closed link stays closed: later calls are refused, and no connection is opened again.
  6. Statements are named blocks of sql/postgres/queries.sql; a wrong name fails at import. Migrations have no
     gaps.
  7. All missing migrations run in one transaction, under a lock that ends with it: two hosts that join at the
     same moment make one schema. A database of a newer version is refused before anything is written.
  8. Nothing is written where nothing is missing: a role without the right to make tables can join.

Not here: where the server is (connect.py), what is asked (ledger.py, roster.py), when to retry
(daemon/fleet/), rights of roles (docs/fleet.md).
"""

import asyncio
import contextlib
import os
import re
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

import psycopg
from psycopg import errors

from headcount.store.fleet_interface import SharedNewerSchema, SharedUnavailable
from headcount.store.postgres.connect import Connection, Connector
from headcount.store.sql_files import SQL, blocks_of, migrations_in
from headcount.times import FLEET_IDLE_WITHIN

_POSTGRES = SQL / "postgres"

QUERIES = blocks_of((_POSTGRES / "queries.sql").read_text("utf-8"))
MIGRATIONS = migrations_in(_POSTGRES / "migrations")
SCHEMA_VERSION = MIGRATIONS[-1].number
LOCK_KEY = 0x48434E54  # "HCNT"

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

CONNECTIONS_MOST = 4
AGAIN_MOST = 3  # two hosts that wait for each other's rows: the database picks one, which simply asks again
MS = 1000

PASSFILE = re.compile(r',? ?password retrieved from file "[^"]*"')  # ours, and gone when a join has failed


def query(*names: str) -> str:
    """The blocks of these names, one after the other."""
    return "\n".join(QUERIES[name] for name in names)


async def migrate(link: "Pool") -> int:
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


_BOUND = query("bound_transaction")


class _Stale(Exception):
    """A connection that was kept had been closed meanwhile. Nothing was begun on it."""


class _Attempt:
    """One call on its way; `cut` ends it whatever it waits for."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.task: asyncio.Task[object] | None = None
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True
        if self.connection is None:
            if self.task is not None:
                self.task.cancel()
        else:
            shut(self.connection)


class Pool:
    def __init__(self, conninfo: str, within: float, most: int = CONNECTIONS_MOST) -> None:
        self._door = Connector(conninfo, within)
        self._within = within
        self._closed = False
        self._idle: list[Connection] = []
        self._slots = asyncio.Semaphore(most)
        self._open: dict[asyncio.Task[object], _Attempt] = {}

    async def run(self, work: Work[T]) -> T:
        """One transaction; raises `SharedUnavailable`, after which its outcome is not known."""
        attempt = _Attempt()
        task = self._started(self._bounded(work, attempt), attempt)
        timer = asyncio.get_running_loop().call_later(self._within, attempt.cut)
        task.add_done_callback(lambda _: timer.cancel())
        return await asyncio.shield(task)

    async def attend(self, begin: Work[object], then: Work[None]) -> None:
        """A connection of one's own: `begin` has the deadline of a call, `then` goes on until the line ends.
        Whoever cancels this cuts it, and is gone at once."""
        attempt = _Attempt()
        task = self._started(self._attended(begin, then, attempt), attempt)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            attempt.cut()
            raise

    async def connect(self) -> Connection:
        try:
            return await self._door.open()
        except (psycopg.Error, OSError) as error:
            raise told(error) from error

    async def close(self) -> None:
        """What is on its way is cut, not cancelled: that too would wait for the server."""
        self._closed = True
        for attempt in list(self._open.values()):
            attempt.cut()
        if self._open:
            await asyncio.wait(self._open)
        idle, self._idle = self._idle, []
        for connection in idle:
            await _close(connection)

    def _started(self, work: Coroutine[object, object, T], attempt: _Attempt) -> asyncio.Task[T]:
        if self._closed:
            work.close()
            raise SharedUnavailable("this host is leaving the shared database")
        task = attempt.task = asyncio.create_task(work)
        self._open[task] = attempt
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[object]) -> None:
        self._open.pop(task, None)
        if not task.cancelled():
            task.exception()  # nobody may be waiting for it any more

    async def _bounded(self, work: Work[T], attempt: _Attempt) -> T:
        try:
            async with self._slots:
                for _ in range(AGAIN_MOST):
                    if attempt.is_cut:  # it ended by itself in that very moment, and is not begun again
                        raise asyncio.CancelledError
                    with contextlib.suppress(errors.DeadlockDetected, errors.SerializationFailure):
                        while self._idle:
                            with contextlib.suppress(_Stale):
                                return await self._once(self._idle.pop(), work, attempt, kept=True)
                        return await self._once(await self.connect(), work, attempt)
            raise SharedUnavailable("the shared database is too busy")
        except asyncio.CancelledError:
            if attempt.is_cut:
                raise SharedUnavailable("the shared database did not answer in time") from None
            raise
        except (psycopg.Error, OSError) as error:
            if attempt.is_cut:
                raise SharedUnavailable("the shared database did not answer in time") from None
            raise told(error) from error

    async def _attended(self, begin: Work[object], then: Work[None], attempt: _Attempt) -> None:
        connection = attempt.connection = await self.connect()
        timer = asyncio.get_running_loop().call_later(self._within, attempt.cut)
        try:
            await begin(connection)
            timer.cancel()
            await then(connection)
        except (psycopg.Error, OSError) as error:
            raise told(error) from error
        finally:
            timer.cancel()
            attempt.connection = None
            await _close(connection)

    async def _once(
        self, connection: Connection, work: Work[T], attempt: _Attempt, *, kept: bool = False
    ) -> T:
        attempt.connection = connection
        good = begun = False
        try:
            async with connection.transaction():
                await connection.execute(_BOUND, self._bounds())
                begun = True
                result = await work(connection)
            good = not attempt.is_cut
            return result
        except (errors.DeadlockDetected, errors.SerializationFailure):
            good = not attempt.is_cut
            raise
        except psycopg.OperationalError as error:
            if kept and not begun and not attempt.is_cut:
                raise _Stale from error
            raise
        finally:
            attempt.connection = None
            if good:
                self._idle.append(connection)
            else:
                await _close(connection)

    def _bounds(self) -> dict[str, str]:
        return {
            "statement": str(int(self._within * MS)),
            "idle": str(int(min(2 * self._within, FLEET_IDLE_WITHIN) * MS)),
        }


def shut(connection: Connection) -> None:
    """The driver finds the line closed, at once, whatever it waits for. The descriptor stays its own."""
    with contextlib.suppress(OSError, psycopg.Error):
        copy = socket.socket(fileno=os.dup(connection.pgconn.socket))
        with copy:
            copy.shutdown(socket.SHUT_RDWR)


def told(error: BaseException) -> SharedUnavailable:
    """In one line. libpq names host, port, database and user, never the password."""
    if isinstance(error, errors.InsufficientPrivilege):
        return SharedUnavailable("the database role may not do that; see docs/fleet.md for its grants")
    text = PASSFILE.sub("", " ".join(str(error).split())) or type(error).__name__
    return SharedUnavailable(f"the shared database cannot be asked: {text[:300]}")


async def _close(connection: Connection) -> None:
    with contextlib.suppress(psycopg.Error, OSError):
        await connection.close()
