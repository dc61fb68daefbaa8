"""A fleet: from a death on one host to the grant on another, and how many hosts one PostgreSQL carries.

The first is measured on two real daemons with real processes. The second is a model: connections that do to the
database what that many hosts with that many sessions do, by the product's own statements, as fast as their times say.
"""

import asyncio
import os
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.figure import Figure, Ratio, Row
from bench.numbers import median, percentile
from bench.plot import Line, plot
from headcount import times
from headcount.core.claims.shared_with_fleet import SharedItem, decide_shared
from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, Granted, Release
from headcount.core.values.item import Item
from headcount.core.values.process import BootAndNamespace, ProcessIdentity
from headcount.core.values.verdict import alive
from headcount.store.fleet_interface import SharedUnavailable
from headcount.store.postgres.ledger import PostgresLedger
from headcount.store.postgres.pool import Pool, migrate
from headcount.store.postgres.roster import PostgresRoster
from tests.rig.daemon.fleet import fleet
from tests.rig.network.postgres import Postgres

DEATHS = 100
TARGET_MS = 250
HOSTS = (10, 50, 100, 200)
SESSIONS = 50  # a host
SECONDS = 10.0
AFTER_LEASE = times.FLEET_TTL + times.FLEET_LOCK_DELAY
CHANGES = 0.2  # a session changes every five seconds
CLAIMS = 1 / 30  # an agent takes and gives back an item every half minute
ROW = (
    '{"id": "%s", "agent": "claude-code", "liveness": "alive", "activity": "working", "pad": "'
    + "x" * 700
    + '"}'
)


def measure() -> Figure:
    with Postgres("shared_buffers=256MB", durable=True) as server:
        deaths = _deaths(server)
        loads = [asyncio.run(_load(server, hosts)) for hosts in HOSTS]
        most = asyncio.run(_grants(server))
    p50, p99 = median(deaths), percentile(deaths, 0.99)
    rows = [
        Row(
            "death on A to grant on B, p50 / p99",
            (f"{p50:.0f} / {p99:.0f} ms",),
            f"< {TARGET_MS} ms",
            p99 < TARGET_MS,
        ),
        *(_row(load) for load in loads),
        Row("claims a second, 16 hosts as fast as they go", (f"{most:.0f}",)),
    ]
    return Figure(
        "fleet",
        "A fleet on one PostgreSQL",
        ("found",),
        tuple(rows),
        (
            f"{DEATHS} deaths between two daemons; PostgreSQL with durable commits on the same machine. Without proof of "
            f"death the claim would be free when the lease and the lock-delay are over, after "
            f"{AFTER_LEASE:g} s.",
            f"The load is a model on the same machine, which it shares with the database: each host renews every "
            f"{times.FLEET_RENEW_EVERY:g} s, sends changed sessions once a second ({CHANGES:g} changes a second and "
            f"session) and takes {CLAIMS * SESSIONS:.1f} items a second.",
        ),
        (
            Ratio(
                "death on one host to the grant on another",
                f"{p50:.0f} ms",
                f"the end of a lease: {AFTER_LEASE:g} s",
                AFTER_LEASE * 1000 / p50,
                f"p99 < {TARGET_MS} ms",
                p99 < TARGET_MS,
            ),
        ),
        (("fleet-load", _draw(loads)),),
    )


def _row(load: "Load") -> Row:
    found = (
        f"{load.renewals:.0f} renewals, {load.rows:.0f} rows, {load.claims:.0f} claims a second; database "
        f"{load.cpu:.2f} cores, the model {load.own:.2f}; a claim {load.p50:.0f} / {load.p99:.0f} ms; {load.late} late"
    )
    what = f"{load.hosts} hosts × {SESSIONS} sessions"
    return Row(what, (found,), "no renewal later than its lease", load.late == 0)


# --- from death to grant -----------------------------------------------------------------------------


def _deaths(server: Postgres) -> list[float]:
    """Milliseconds from before the kill to when the waiter on the other host has its answer."""
    taken = []
    with (
        tempfile.TemporaryDirectory(prefix="headcount-bench-") as directory,
        fleet(Path(directory), server, "alpha", "beta", factor=1.0) as (alpha, beta),
    ):
        waiter = beta.worker()
        for nth in range(DEATHS):
            item = f"task:{nth}"
            holder = alpha.worker()
            assert holder.claim(item)[0] == 200
            waiter.ask("POST", "/v1/claims", {"item": item, "own": True, "wait": 30})
            while not server.ask(f"SELECT 1 FROM headcount.waiters WHERE item = '{item}'", alpha.database):
                time.sleep(0.002)
            began = time.perf_counter()
            holder.process.kill()
            status, _ = waiter.hear()
            taken.append((time.perf_counter() - began) * 1000)
            assert status == 200
            waiter.release(item)
            holder.close()
            alpha.workers.clear()
        alpha.workers.clear()
    return taken


# --- the load model ----------------------------------------------------------------------------------


@dataclass
class Load:
    hosts: int
    renewals: float = 0.0
    rows: float = 0.0
    claims: float = 0.0
    late: int = 0
    cpu: float = 0.0
    own: float = 0.0  # of the model
    waits: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return median(self.waits) if self.waits else 0.0

    @property
    def p99(self) -> float:
        return percentile(self.waits, 0.99) if self.waits else 0.0


class Model:
    """One host's questions to the database, without a daemon around them."""

    def __init__(self, address: str, number: int, load: Load) -> None:
        self.link = Pool(address, 30, most=1)
        self.host = f"model-{number}"
        self.ledger = PostgresLedger(
            self.link, self.host, ttl=times.FLEET_TTL, lock_delay=times.FLEET_LOCK_DELAY
        )
        self.roster = PostgresRoster(self.link, self.host)
        self.world = World(BootAndNamespace("m", f"boot-{number}", 1))
        self.load = load
        self.chance = random.Random(number)

    async def run(self, until: float) -> None:
        await self.ledger.enrol(self.host, "bench")
        await asyncio.gather(self.renew(until), self.send(until), self.claim(until))
        await self.link.close()

    async def renew(self, until: float) -> None:
        await asyncio.sleep(self.chance.random() * times.FLEET_RENEW_EVERY)
        while time.monotonic() < until:
            began = time.monotonic()
            await self.ledger.renew(lambda request: True)
            self.load.renewals += 1
            self.load.late += time.monotonic() - began > times.FLEET_TTL - times.FLEET_RENEW_EVERY
            await asyncio.sleep(times.FLEET_RENEW_EVERY)

    async def send(self, until: float) -> None:
        await asyncio.sleep(self.chance.random())
        while time.monotonic() < until:
            changed = self.chance.sample(range(SESSIONS), round(SESSIONS * CHANGES))
            await self.roster.keep({f"s{nth}": ROW % nth for nth in changed})
            self.load.rows += len(changed)
            await asyncio.sleep(times.FLEET_ROSTER_EVERY)

    async def claim(self, until: float) -> None:
        while True:
            await asyncio.sleep(self.chance.expovariate(SESSIONS * CLAIMS))
            if time.monotonic() > until:
                return
            began = time.monotonic()
            await self.one(f"task:{self.chance.randrange(5000)}")
            self.load.waits.append((time.monotonic() - began) * 1000)

    async def one(self, name: str) -> None:
        process = ProcessIdentity(self.world.place.boot, 1, self.chance.randrange(2, 100_000), 1, 1)
        caller, item = Caller(process), Item(name)
        asks = Acquire(item, caller, os.urandom(8).hex())
        answer = await self.ledger.decide(asks, lambda known, now: self.decide(asks, known, now), 0)
        self.load.claims += 1
        if isinstance(answer, Granted):
            gives = Release(item, caller, answer.claim.fence)
            await self.ledger.decide(gives, lambda known, now: self.decide(gives, known, now), 0)

    def decide(self, command: Acquire | Release, known: SharedItem, now: float):  # type: ignore[no-untyped-def]
        process = command.caller.process
        assert process is not None
        return decide_shared(self.world, known, command, now, {process: alive("it is a model")})


async def _load(server: Postgres, hosts: int) -> Load:
    load = Load(hosts)
    address = server.uri(database=server.create())
    link = Pool(address, 30)
    await migrate(link)
    models = [Model(address, number, load) for number in range(hosts)]
    before, own, began = _cpu(server), time.process_time(), time.monotonic()
    done = await asyncio.gather(*(each.run(began + SECONDS) for each in models), return_exceptions=True)
    took = time.monotonic() - began
    load.late += sum(isinstance(each, SharedUnavailable) for each in done)
    load.cpu, load.own = (_cpu(server) - before) / took, (time.process_time() - own) / took
    load.renewals, load.rows, load.claims = (
        value / took for value in (load.renewals, load.rows, load.claims)
    )
    await link.close()
    return load


async def _grants(server: Postgres) -> float:
    """Sixteen hosts, each asking again as soon as it was answered."""
    load = Load(16)
    address = server.uri(database=server.create())
    link = Pool(address, 30)
    await migrate(link)
    await link.close()
    models = [Model(address, number, load) for number in range(16)]
    until = time.monotonic() + SECONDS / 2

    async def ask(model: Model) -> None:
        await model.ledger.enrol(model.host, "bench")
        while time.monotonic() < until:
            await model.one(f"task:{model.chance.randrange(5000)}")
        await model.link.close()

    began = time.monotonic()
    await asyncio.gather(*(ask(model) for model in models))
    return load.claims / (time.monotonic() - began)


def _cpu(server: Postgres) -> float:
    """Of the server and all its processes, those that are over too: their time went to their parent."""
    assert server.process is not None
    parent = psutil.Process(server.process.pid)
    total = 0.0
    for each in [parent, *parent.children(recursive=True)]:
        try:
            spent = each.cpu_times()
        except psutil.Error:
            continue
        total += spent.user + spent.system
    spent = parent.cpu_times()
    return float(total + spent.children_user + spent.children_system)


def _draw(loads: list[Load]) -> str:
    hosts = [float(load.hosts) for load in loads]
    lines = (
        Line("database, cores × 100", [load.cpu * 100 for load in loads], "#1f77b4"),
        Line("a claim, p99 in ms", [load.p99 for load in loads], "#d62728"),
        Line("claims a second", [load.claims for load in loads], "#2ca02c"),
    )
    return plot(f"One PostgreSQL, {SESSIONS} sessions a host", "hosts", hosts, lines)
