"""The shared database itself: its schema, its rights, its address, and a pooler in between."""

import asyncio
import os
import shutil
import socket
import subprocess
import time

import psycopg
import pytest

from headcount.store.fleet_interface import SharedNewerSchema, SharedUnavailable
from headcount.store.postgres.address import BadAddress, parse_address, passfile_line, shown, with_passfile
from headcount.store.postgres.pool import QUERIES, SCHEMA_VERSION, Pool, migrate
from tests.rig.claims.local_and_fleet_ledgers import FleetDesk
from tests.rig.core_values import process
from tests.rig.network.cuttable_proxy import SILENT, Proxy
from tests.rig.network.postgres import free_port

A, B = process(100), process(200)

GRANTS = """
CREATE ROLE {role} LOGIN;
GRANT USAGE ON SCHEMA headcount TO {role};
GRANT SELECT ON headcount.schema_version TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON headcount.hosts, headcount.requests, headcount.waiters, headcount.sessions TO {role};
GRANT SELECT, INSERT, UPDATE ON headcount.claims TO {role};
GRANT SELECT, UPDATE ON headcount.ledger TO {role};
GRANT SELECT, INSERT, DELETE ON headcount.claim_events TO {role};
"""


async def test_hosts_that_join_at_the_same_moment_make_one_schema(postgres):
    database = postgres.create()
    links = [Pool(postgres.uri(database=database), 10) for _ in range(4)]
    versions = await asyncio.gather(*(migrate(link) for link in links))
    for link in links:
        await link.close()
    assert versions == [SCHEMA_VERSION] * 4
    assert postgres.ask("SELECT count(*) FROM headcount.ledger", database) == [(1,)]


async def test_a_newer_schema_is_refused_and_left_alone(postgres):
    database = postgres.create()
    link = Pool(postgres.uri(database=database), 10)
    await migrate(link)
    postgres.ask(f"INSERT INTO headcount.schema_version VALUES ({SCHEMA_VERSION + 1})", database)
    with pytest.raises(SharedNewerSchema, match="upgrade headcount"):
        await migrate(link)
    await link.close()


async def test_the_documented_role_is_enough_and_may_do_nothing_else(postgres, tmp_path):
    database = postgres.create()
    link = Pool(postgres.uri(database=database), 10)
    await migrate(link)
    await link.close()
    role = f"role_{database}"
    postgres.ask(GRANTS.format(role=role), database)
    desk = FleetDesk(tmp_path, postgres.uri(database=database, user=role), "one")
    await desk.open()
    try:
        fence = (await desk.acquire("task:x", A)).claim.fence
        waits = asyncio.create_task(desk.acquire("task:x", B, wait=10))
        await asyncio.sleep(0)
        await desk.die(A)
        assert (await waits).claim.fence > fence
        assert len(await desk.member.ledger.history("task:x", 10)) == 3
        await desk.member.people.tidy()
        await desk.member.ledger.leave()
    finally:
        await desk.close()
    with psycopg.connect(postgres.uri(database=database, user=role)) as connection:
        for sql in (
            "DELETE FROM headcount.claims",
            "DROP TABLE headcount.hosts",
            "CREATE TABLE headcount.x ()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql)
            connection.rollback()


def test_the_role_of_the_document_is_the_one_that_is_tested():
    from tests.rules.source import ROOT

    text = (ROOT / "docs" / "fleet.md").read_text()
    for line in GRANTS.format(role="headcount").strip().splitlines()[1:]:
        assert line in text


async def test_nothing_needs_a_session_so_a_pooler_in_transaction_mode_may_stand_between(postgres, tmp_path):
    """Two server connections for two hosts: what one leaves in a session the other would find."""
    if shutil.which("pgbouncer") is None:
        pytest.skip("pgbouncer is not installed")
    database, port = postgres.create(), free_port()
    user = "user = nobody\n" if os.getuid() == 0 else ""
    (tmp_path / "users").write_text('"postgres" ""\n')
    (tmp_path / "ini").write_text(
        f"[databases]\n{database} = host=127.0.0.1 port={postgres.port} user=postgres\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"auth_file = {tmp_path}/users\npool_mode = transaction\ndefault_pool_size = 2\n{user}"
    )
    for path in (tmp_path, *tmp_path.parents[:2]):  # pytest's own directories; the pooler is another user
        path.chmod(0o755)
    pooler = subprocess.Popen(["pgbouncer", "-q", str(tmp_path / "ini")], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        address = f"postgresql://postgres@127.0.0.1:{port}/{database}"
        one, two = FleetDesk(tmp_path / "1", address, "one"), FleetDesk(tmp_path / "2", address, "two")
        await one.open()
        await two.open()
        try:
            fence = (await one.acquire("task:x", A)).claim.fence
            waits = asyncio.create_task(two.acquire("task:x", B, wait=20))
            async with asyncio.timeout(10):
                while not (await two.member.ledger.held())[1]:
                    await asyncio.sleep(0.01)
            await one.die(A)
            assert (await waits).claim.fence > fence
        finally:
            await one.close()
            await two.close()
    finally:
        pooler.kill()
        pooler.wait()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_no_statement_keeps_anything_in_a_session():
    text = "\n".join(QUERIES.values()).lower()
    for word in ("listen", "pg_advisory_lock(", "prepare", "temp", "nextval", "set session"):
        assert word not in text


async def test_a_line_that_swallows_everything_costs_the_deadline_and_no_more(postgres):
    with Proxy(postgres.port) as line:
        link = Pool(postgres.uri(port=line.port), 0.5)

        async def one(connection):
            return (await (await connection.execute("SELECT 1")).fetchone())[0]

        assert await link.run(one) == 1
        line.cut(SILENT)
        began = time.monotonic()
        with pytest.raises(SharedUnavailable, match="in time"):
            await link.run(one)
        with pytest.raises(SharedUnavailable):
            await link.run(one)  # not even a connection can be made
        assert time.monotonic() - began < 30
        line.mend()
        assert await link.run(one) == 1
        await link.close()


async def test_rows_of_a_host_that_was_cut_off_in_a_transaction_are_free_again_soon(postgres):
    database = postgres.create()
    with Proxy(postgres.port) as line:
        ours, cut = Pool(postgres.uri(database=database), 10), None
        await migrate(ours)
        cut = Pool(postgres.uri(port=line.port, database=database), 0.5)

        async def lock(connection):
            await connection.execute("UPDATE headcount.ledger SET fence = fence + 1")
            line.cut(SILENT)
            await connection.execute("SELECT 1")

        with pytest.raises(SharedUnavailable):
            await cut.run(lock)

        async def bump(connection):
            await connection.execute("UPDATE headcount.ledger SET fence = fence + 1")

        await ours.run(bump)
        await ours.close()
        await cut.close()


# --- addresses ---------------------------------------------------------------------------------------


def test_a_password_leaves_the_address_and_the_rest_is_passed_through():
    address = parse_address(
        "postgresql://me:s3cr3t%3A@db.example.org:6432/agents?sslmode=verify-full&sslrootcert=/ca"
    )
    assert address.password == "s3cr3t:"
    assert "s3cr3t" not in address.conninfo
    given = with_passfile(address.conninfo, "/state/fleet.pass")
    for part in ("sslmode=verify-full", "sslrootcert=/ca", "passfile=/state/fleet.pass", "port=6432"):
        assert part in given
    assert (
        shown(address.conninfo) == "host=db.example.org port=6432 dbname=agents user=me sslmode=verify-full"
    )
    assert passfile_line("a:b\\c") == "*:*:*:*:a\\:b\\\\c\n"


@pytest.mark.parametrize(
    "text",
    [
        "host=db password=s3cr3t",
        "postgresql://u:s3cr3t@h:notaport/x?nonsense=1",
        "",
        "postgresql://u:s3@cr3t@127.0.0.1:5432/x",  # the commonest slip: letters that are not written as %40, %2F
        "postgresql://u:top/s3cr3t@127.0.0.1:5432/x",
        "postgresql://u:to:s3cr3t/p@127.0.0.1/x",
    ],
)
def test_what_is_no_address_is_refused_without_being_repeated(text):
    with pytest.raises(BadAddress) as refused:
        parse_address(text)
    assert "s3cr3t" not in str(refused.value)
