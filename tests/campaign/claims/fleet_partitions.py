"""A fleet under fire: four daemons on one PostgreSQL, cut off, stopped and killed; the database restarted.

In every round one fault strikes while eight claimants, two on each host, ask for the same few items. Every answer is
written down and given to the checker (tests/rig/claims/fleet_history_checker.py): is the ledger's own journal, with one holder at a time and
strictly growing fences, an order in which one plain ledger would have given these very answers? The
control is the same daemon with session advisory locks instead of row leases.

Where the machine allows it each daemon is in a network namespace of its own, with a cable that is cut (rig/namespaces.py);
elsewhere it is behind a proxy that cuts (rig/proxy.py).
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.claims.fleet_history_checker import Entry, outdated, unexplained
from tests.rig.claims.history_checker import Does, Operation, Says
from tests.rig.claims.many_claimants import read
from tests.rig.daemon.fleet import FACTOR, Host
from tests.rig.daemon.real_daemon import eventually
from tests.rig.naive_ways.advisory_ledger import ADVISORY
from tests.rig.network.cuttable_cable import DEAF, DOWN, NETWORK, Cable, why_not
from tests.rig.network.cuttable_proxy import CLEAN, SILENT
from tests.rig.network.postgres import Postgres

ROUNDS = 200
CONTROL_ROUNDS = 6
HOSTS = ("alpha", "beta", "gamma", "delta")
CLAIMANTS = 2  # a host
ITEMS = 2
CALM = 0.4  # before and after a fault
LEASE = 30 * FACTOR
OVER = LEASE + 15 * FACTOR + 0.6  # others have taken what the host held
FAULTS = ("clean", "silent", "database", "kill", "stop")
CABLED = (CLEAN, SILENT, DEAF, DOWN, "database", "kill", "stop")


@dataclass
class Struck:
    number: int
    kind: str
    lasted: float


@dataclass
class Fire:
    directory: Path
    postgres: Postgres
    seed: int
    progress: Progress
    control: bool = False
    cables: dict[str, Cable] = field(default_factory=dict)  # by host; none: proxies
    bugs: int = 0  # claimants that were answered nonsense, daemons that failed
    struck: list[Struck] = field(default_factory=list)
    claimants: dict[str, list[tuple[subprocess.Popen[bytes], Path]]] = field(default_factory=dict)

    def run(self, rounds: int, kinds: tuple[str, ...] = FAULTS, seconds: float = 1e9) -> None:
        chance = random.Random(self.seed)
        until = time.monotonic() + seconds
        with self.hosts() as hosts, self.asking(hosts) as told:
            for number in range(rounds):
                told.with_suffix(".new").write_text(str(number))
                told.with_suffix(".new").rename(told)
                time.sleep(CALM)
                kind = kinds[number % len(kinds)]
                self.strike(number, kind, chance, hosts)
                time.sleep(CALM)
                if number % 10 == 9:
                    self.progress(f"fleet: {number + 1} rounds")
                if time.monotonic() > until:
                    break

    @contextlib.contextmanager
    def hosts(self) -> Iterator[list[Host]]:
        database = self.postgres.create()
        with contextlib.ExitStack() as stack:
            hosts = [
                Host(self.directory, name, self.postgres, database=database, cable=self.cables.get(name))
                for name in HOSTS
            ]
            for host in hosts:
                if self.control:
                    self.spoil(host)
                stack.enter_context(host)
            yield [host.joined() for host in hosts]
            self.database = database

    def spoil(self, host: Host) -> None:
        site = host.directory / "site"
        site.mkdir(parents=True)
        (site / "sitecustomize.py").write_text(ADVISORY)
        before = os.environ.get("PYTHONPATH")
        host.daemon.env["PYTHONPATH"] = os.pathsep.join([str(site), *([before] if before else [])])

    @contextlib.contextmanager
    def asking(self, hosts: list[Host]) -> Iterator[Path]:
        told = self.directory / "round"
        told.write_text("none")
        for host in hosts:
            for nth in range(CLAIMANTS):
                log = self.directory / f"{host.name}-{nth}.log"
                words = [
                    str(host.daemon.socket),
                    str(log),
                    f"{self.seed}/{host.name}/{nth}",
                    str(told),
                    str(ITEMS),
                ]
                process = subprocess.Popen([sys.executable, "-m", "tests.rig.claims.fleet_claimant", *words])
                self.claimants.setdefault(host.name, []).append((process, log))
        try:
            yield told
        finally:
            told.unlink()
            for process, _ in (each for pair in self.claimants.values() for each in pair):
                try:
                    process.wait(30)
                finally:
                    process.kill()
                    process.wait()
                self.bugs += process.returncode != 0
            self.bugs += sum("a request failed" in host.daemon.log() for host in hosts)

    def strike(self, number: int, kind: str, chance: random.Random, hosts: list[Host]) -> None:
        """Half of the faults are over before a lease is, the others outlast it."""
        host = chance.choice(hosts)
        lasts = OVER if chance.random() < 0.5 or self.control else chance.random() * LEASE
        self.struck.append(Struck(number, kind, lasts))
        if kind in (CLEAN, SILENT, DEAF, DOWN):
            cut = (
                hosts[1:] if self.control else [host]
            )  # of the naive one most, so that a holder is among them
            for each in cut:
                each.line.cut(kind)
            time.sleep(lasts)
            for each in cut:
                each.line.mend()
        elif kind == "database":
            self.postgres.restart(signal.SIGQUIT if chance.random() < 0.5 else signal.SIGINT)
        elif kind == "kill":
            host.daemon.kill()
            time.sleep(lasts if chance.random() < 0.5 else 0.0)
            host.daemon.ready()
        elif kind == "stop":
            assert host.daemon.process is not None
            host.daemon.process.send_signal(signal.SIGSTOP)
            time.sleep(lasts)
            host.daemon.process.send_signal(signal.SIGCONT)
        for each in hosts:
            eventually(lambda each=each: each.status()["vouched"], within=60)

    # --- what came of it -----------------------------------------------------------------------------

    def history(self) -> list[Operation]:
        return [
            op
            for pair in self.claimants.values()
            for process, log in pair
            for op in (read(log, str(process.pid)) if log.exists() else [])
        ]

    def journal(self) -> list[Entry]:
        rows = self.postgres.ask(
            "SELECT item, granted, (body::json ->> 'fence')::bigint, body::json -> 'holder' ->> 'pid' "
            "FROM headcount.claim_events ORDER BY item, id",
            self.database,
        )
        holders = {(item, fence): pid for item, granted, fence, pid in rows if granted}
        return [Entry(item, granted, fence, holders[item, fence]) for item, granted, fence, _ in rows]


def double_holders(journal: list[Entry]) -> list[str]:
    """By the ledger's own journal: a grant that follows a grant, or an end that follows an end."""
    return [
        f"{entry.item}: {entry.fence}"
        for before, entry in pairwise(journal)
        if before.item == entry.item and before.granted == entry.granted
    ]


@contextlib.contextmanager
def _laid(without: str | None) -> Iterator[tuple[Postgres, dict[str, Cable]]]:
    with contextlib.ExitStack() as stack:
        cables = {} if without else {name: stack.enter_context(Cable()) for name in HOSTS}
        heard = ",".join(["127.0.0.1", *(cable.host for cable in cables.values())])
        postgres = stack.enter_context(
            Postgres(f"listen_addresses={heard}", network=NETWORK if cables else None)
        )
        for cable in cables.values():
            cable.port = postgres.port
        yield postgres, cables


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    control_rounds: int = CONTROL_ROUNDS,
    kinds: tuple[str, ...] | None = None,
    without: str | None = "",
) -> Outcome:
    """`without`: why there are no namespaces; as a rule the machine is asked."""
    without = why_not() if without == "" else without
    with tempfile.TemporaryDirectory(prefix="headcount-fleet-") as directory, _laid(without) as laid:
        postgres, cables = laid
        ours = Fire(Path(directory) / "ours", postgres, seed, progress, cables=cables)
        ours.directory.mkdir()
        ours.run(rounds, kinds or (FAULTS if without else CABLED), seconds)
        naive = Fire(Path(directory) / "naive", postgres, seed, progress, control=True, cables=cables)
        naive.directory.mkdir()
        naive.run(control_rounds, (CLEAN,))
        history, journal = ours.history(), ours.journal()
        progress(f"fleet: checking {len(history):,} answers")
        broken, double = unexplained(journal, history), double_holders(journal)
        both, caught = outdated(history), outdated(naive.history())
    said = Counter((op.does, op.says) for op in history)
    struck = Counter(each.kind for each in ours.struck)
    lost = Counter(each.says for each in history)[Says.NOTHING]
    rows = (
        Row("rounds, four daemons, eight claimants", f"{len(ours.struck):,}", f"{rounds:,}"),
        Row("  lines", f"proxies: {without}" if without else "a network namespace for each daemon"),
        Row("  faults", ", ".join(f"{kind} {count}" for kind, count in struck.items())),
        Row(
            "answers: granted / held / current / stale / none",
            f"{said[Does.ACQUIRE, Says.GRANTED]:,} / {said[Does.ACQUIRE, Says.HELD]:,} / "
            f"{said[Does.CHECK, Says.CURRENT]:,} / {said[Does.CHECK, Says.STALE]:,} / {lost:,}",
        ),
        Row("ours: answers or fences that no one ledger could give", f"{len(broken)}", "0", not broken),
        Row("ours: double holders by the ledger's journal", f"{len(double)}", "0", not double),
        Row("ours: told current after another was granted", f"{len(both)}", "0", not both),
        Row("ours: answers that are none, and failed requests", f"{ours.bugs}", "0", not ours.bugs),
        Row(
            "control, session advisory locks, cut cleanly: told current after another was granted",
            f"{len(caught)}",
            "more than 0",
            bool(caught),
        ),
    )
    for fault in (*broken, *double, *both):
        progress(f"fleet: {fault}")
    return Outcome("fleet_partitions", "A fleet under fire", rows)
