"""A fleet for tests: daemons in homes of their own, each behind a line that can be cut, on one PostgreSQL.

Rules of this file
  1. Times are shortened by one factor for all hosts; what is tested are orders, not lengths.
  2. Joining is done as the operator does it, from a process without an agent above it.
"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.rig.agents.callers import Answer, Errand, Request, detached
from tests.rig.claims.claiming_process import Worker
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.cuttable_cable import Cable
from tests.rig.network.cuttable_proxy import Proxy
from tests.rig.network.postgres import Postgres

FACTOR = 0.05  # a lease of 1.5 s, renewed every 0.5 s, a lock-delay of 0.75 s


class Host:
    def __init__(
        self,
        directory: Path,
        name: str,
        postgres: Postgres,
        factor: float = FACTOR,
        database: str | None = None,
        cable: Cable | None = None,
    ) -> None:
        self.name = name
        self.directory = directory / name
        self.postgres = postgres
        self.database = database or postgres.create()
        self.daemon = Daemon(self.directory, HEADCOUNT_FLEET_PACE=str(factor))
        self.line: Proxy | Cable = Proxy(postgres.port) if cable is None else cable
        if cable is not None:
            self.daemon.wrapper = cable.wrapper
        self.workers: list[Worker] = []

    def __enter__(self) -> "Host":
        self.daemon.ready()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()
        self.daemon.stop()
        if isinstance(self.line, Proxy):  # a cable belongs to who laid it
            self.line.__exit__()

    @property
    def address(self) -> str:
        return self.postgres.uri(host=self.line.host, port=self.line.port, database=self.database)

    def operate(self, method: str, target: str, body: Any = None) -> Answer:
        errand = Errand(self.directory / "errands", self.daemon.socket, [Request(method, target, body)])
        (answer,) = detached(errand)
        return answer

    def join(self, **more: Any) -> Answer:
        wish = {"address": self.address, "name": self.name, **more}
        return self.operate("POST", "/v1/fleet/join", wish)

    def joined(self) -> "Host":
        answer = self.join()
        assert answer.status == 200, answer
        return self

    def worker(self) -> Worker:
        self.workers.append(Worker(self.daemon))
        return self.workers[-1]

    def status(self) -> Any:
        return self.daemon.get("/v1/fleet")

    def vouches(self) -> "Host":
        """Waits until it does."""
        eventually(lambda: self.status()["vouched"])
        return self

    def events(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.daemon.get(f"/v1/history?type={kind}&limit=1000")["events"]
        return found


@contextlib.contextmanager
def fleet(directory: Path, postgres: Postgres, *names: str, factor: float = FACTOR) -> Iterator[list[Host]]:
    """Hosts that have joined."""
    database = postgres.create()
    with contextlib.ExitStack() as stack:
        hosts = [Host(directory, name, postgres, factor, database) for name in names]
        with ThreadPoolExecutor(len(hosts)) as pool:
            for host in pool.map(Host.__enter__, hosts):
                stack.push(host.__exit__)
            list(pool.map(Host.joined, hosts))
        yield hosts
