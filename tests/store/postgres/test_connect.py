"""The way to the shared database: several hosts, and settings of the database that would weaken what we promise."""

import signal
import socket

import pytest

from headcount.store.postgres.address import with_passfile
from headcount.store.postgres.connect import places_of
from headcount.store.postgres.pool import Pool
from tests.rig.claims.local_and_fleet_ledgers import FleetDesk
from tests.rig.core_values import process
from tests.rig.network.postgres import Postgres

A, B = process(100), process(200)


async def one(connection):
    return (await (await connection.execute("SELECT 1")).fetchone())[0]


async def test_a_second_host_of_the_address_is_reached_although_the_first_is_silent(postgres):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it is connected to, and says nothing
        hosts = f"127.0.0.1:{silent.getsockname()[1]},127.0.0.1:{postgres.port}"
        link = Pool(f"postgresql://postgres@{hosts}/postgres", 8)
        try:
            assert await link.run(one) == 1
        finally:
            await link.close()


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("host=a,b port=1", [{"host": "a", "port": "1"}, {"host": "b", "port": "1"}]),
        ("host=a,b port=1,2", [{"host": "a", "port": "1"}, {"host": "b", "port": "2"}]),
        ("hostaddr=::1 dbname=x", [{"hostaddr": "::1"}]),
        ("dbname=x", [{}]),
    ],
)
def test_hosts_and_ports_are_paired_as_libpq_does(text, places):
    assert places_of(text) == places


def test_of_several_hosts_the_one_that_can_be_written_is_wanted_unless_the_address_says_otherwise():
    assert "target_session_attrs=read-write" in with_passfile("host=a,b", None)
    assert "target_session_attrs" not in with_passfile("host=a", None)
    assert "target_session_attrs=any" in with_passfile("host=a,b target_session_attrs=any", None)


async def test_a_database_that_defaults_to_another_isolation_is_read_as_it_is_after_the_wait(
    postgres, tmp_path
):
    """By a snapshot of before the wait a renewal would find as ours what another host has just taken."""
    database = postgres.create()
    postgres.ask(f"ALTER DATABASE {database} SET default_transaction_isolation = 'repeatable read'")
    link = Pool(postgres.uri(database=database), 10)
    other = Pool(postgres.uri(database=database), 10)

    async def looks_twice(connection):
        await connection.execute("SELECT 1 FROM seen")
        await other.run(bump)
        return (await (await connection.execute("SELECT n FROM seen")).fetchone())[0]

    async def bump(connection):
        await connection.execute("UPDATE seen SET n = n + 1")

    async def make(connection):
        await connection.execute("CREATE TABLE seen AS SELECT 0 AS n")

    try:
        await link.run(make)
        assert await link.run(looks_twice) == 1
    finally:
        await link.close()
        await other.close()


async def test_a_grant_outlives_a_crash_of_a_database_that_need_not_sync(tmp_path):
    """`synchronous_commit = off` is a common default for cheap databases: a crash would give a fence twice."""
    with Postgres("synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off") as server:
        desk = FleetDesk(tmp_path, server.uri(), "one")
        await desk.open()
        try:
            fence = (await desk.acquire("task:x", A)).claim.fence
            server.restart(signal.SIGQUIT)
            (row,) = server.ask("SELECT fence FROM headcount.claims WHERE item = 'task:x'")
            assert row == (fence,)
        finally:
            await desk.close()
