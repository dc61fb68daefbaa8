"""Claims: how soon a dead holder's item is the next one's, how many pairs a second, what a claim costs in a shell.

Beside it: the kernel's own lock (`flock`), which is free the moment its holder is gone but knows neither fence nor
holder; two durable commits of bare SQLite, the least that an acquire and a release can be; and `headcount ps`.
"""

import fcntl
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from bench.claim_callers import rate
from bench.figure import Figure, Ratio, Row
from bench.home import introduce, scratch
from bench.numbers import median, ms, percentile
from bench.wheel import Install, install
from headcount.client.transport.connection import Connection
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon

ROUNDS = 1_000
FLOCK_ROUNDS = 300
SECONDS = 3.0
REPEATS = 9
SHELL_ROUNDS = 200
SESSIONS = 50
CALLERS = 16
ITEM = "task:contended"


def measure() -> Figure:
    with scratch() as directory, Daemon(directory / "home") as daemon:
        waits, fences = _from_kill_to_grant(daemon)
        flocks = _from_kill_to_flock(directory)
        pairs = _pairs(daemon, directory)
        with Crowd(directory / "agents", SESSIONS) as crowd:
            introduce(daemon, crowd.members)
            who = daemon.session(conversation=crowd.members[0].conversation)["id"]
            shell = _in_a_shell(install(directory), daemon.home, who)
    less = [claim - ps for claim, ps in zip(shell[CLAIM], shell[PS], strict=True)]
    rises = all(later > earlier for earlier, later in pairwise(fences))
    rows = (
        Row(
            "from kill to grant, for a waiter",
            _spread(waits),
            "p99 at most 100 ms",
            percentile(waits, 0.99) <= 0.1,
        ),
        Row("  each with a higher fence", (f"{len(fences):,} grants", "", ""), "all", rises),
        Row("from kill to grant, `flock`", _spread(flocks)),
        *(Row(what, _best(sample), *_pairs_target(what, sample)) for what, sample in pairs.items()),
        *(Row(what, _spread(sample)) for what, sample in shell.items()),
        Row("  a claim less the `ps` beside it", _spread(less), "median at most 0", median(less) <= 0),
    )
    notes = (
        f"Kill to grant: {ROUNDS:,} rounds, each with a new holder; from before the signal to the answer in the waiter's "
        "hands, the commit with fsync included.",
        f"Pairs: acquire + release, each answered after its own commit; {REPEATS} runs of {SECONDS:.0f} s in turns; "
        "median, worst and best. All callers are processes on the same cores as the daemon.",
        f"In a shell: the wheel in an environment of its own, {SESSIONS} sessions, {SHELL_ROUNDS} rounds, each a claim and "
        "a `ps`, in turns first. How fast the machine is changes by the second: the difference is of each pair.",
    )
    columns = ("p50 or median", "p99 or worst", "slowest or best")
    one = median(pairs[ONE_CLIENT])
    ratios = (
        Ratio(
            "a dead holder's item is the next one's",
            ms(median(waits)),
            f"`flock`, without fence or holder: {ms(median(flocks))}",
            median(flocks) / median(waits),
            "p99 at most 100 ms",
            percentile(waits, 0.99) <= 0.1,
        ),
        Ratio(
            "acquire and release, one caller",
            f"{one:,.0f}/s",
            f"two commits of bare SQLite: {median(pairs[BARE]):,.0f}/s",
            one / median(pairs[BARE]),
            *_pairs_target(ONE_CLIENT, pairs[ONE_CLIENT]),
        ),
    )
    return Figure("claims", "Claims", columns, rows, notes, ratios)


# --- from kill to grant ----------------------------------------------------------------------------


def _from_kill_to_grant(daemon: Daemon) -> tuple[list[float], list[int]]:
    """We are the waiter; each holder is a child that is killed while we wait."""
    connection = Connection(str(daemon.socket))
    waits, fences = [], []
    for _ in range(ROUNDS):
        pid, fence = _holder(str(daemon.socket))
        fences.append(fence)
        killed: list[float] = []
        killer = threading.Thread(target=_kill_once_somebody_waits, args=(daemon, pid, killed))
        killer.start()
        wish = {"item": ITEM, "own": True, "wait": 30}
        answer = connection.call("POST", "/v1/claims", wish, within=60)
        granted = time.perf_counter()
        killer.join()
        os.waitpid(pid, 0)
        assert answer.status == 200 and answer.data["granted"], answer
        waits.append(granted - killed[0])
        fences.append(answer.data["fence"])
        released = connection.call("DELETE", f"/v1/claims/{ITEM}?fence={answer.data['fence']}")
        assert released.status == 200, released
    connection.close()
    return waits, fences


def _holder(socket: str) -> tuple[int, int]:
    """A child that holds the item, and its fence."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        connection = Connection(socket)
        answer = connection.call("POST", "/v1/claims", {"item": ITEM, "own": True})
        os.write(write, str(answer.data["fence"]).encode())
        signal.pause()
        os._exit(1)
    os.close(write)
    fence = int(os.read(read, 100))
    os.close(read)
    return pid, fence


def _kill_once_somebody_waits(daemon: Daemon, pid: int, killed: list[float]) -> None:
    while not daemon.get("/v1/claims")["claims"][0]["waiting"]:
        time.sleep(0.001)
    killed.append(time.perf_counter())
    os.kill(pid, signal.SIGKILL)


def _from_kill_to_flock(directory: Path) -> list[float]:
    path = directory / "flock"
    waits = []
    for _ in range(FLOCK_ROUNDS):
        pid = _flock_holder(path)
        killed: list[float] = []

        def kill(pid: int = pid, killed: list[float] = killed) -> None:
            time.sleep(0.005)  # the lock is being waited for by then; if not, the wait is only shorter
            killed.append(time.perf_counter())
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        with path.open("w") as file:
            killer.start()
            fcntl.flock(file, fcntl.LOCK_EX)
            granted = time.perf_counter()
        killer.join()
        os.waitpid(pid, 0)
        waits.append(granted - killed[0])
    return waits


def _flock_holder(path: Path) -> int:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(write, b"x")
        signal.pause()
        os._exit(1)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    return pid


# --- pairs a second --------------------------------------------------------------------------------

ONE_CLIENT = "pairs a second, Python client, one caller"
MANY_CLIENTS = f"pairs a second, Python client, {CALLERS} callers"
BARE = "two durable commits of bare SQLite a second"
TARGETS = {ONE_CLIENT: 400.0, MANY_CLIENTS: 1500.0}


def _pairs(daemon: Daemon, directory: Path) -> dict[str, list[float]]:
    ways = {
        ONE_CLIENT: lambda: rate(daemon.home, "client", 1, SECONDS),
        "pairs a second, raw socket, one caller": lambda: rate(daemon.home, "raw", 1, SECONDS),
        MANY_CLIENTS: lambda: rate(daemon.home, "client", CALLERS, SECONDS),
        f"pairs a second, raw socket, {CALLERS} callers": lambda: rate(daemon.home, "raw", CALLERS, SECONDS),
        BARE: lambda: _commits(directory / "bare.db"),
    }
    samples: dict[str, list[float]] = {what: [] for what in ways}
    for _ in range(REPEATS):
        for what, way in ways.items():
            samples[what].append(way())
    return samples


def _commits(path: Path) -> float:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS t (item TEXT PRIMARY KEY, n)"
    )
    began = time.perf_counter()
    pairs = 0
    while (taken := time.perf_counter() - began) < SECONDS:
        for _ in range(2):
            connection.execute("INSERT INTO t VALUES ('a', 0) ON CONFLICT (item) DO UPDATE SET n = n + 1")
        pairs += 1
    connection.close()
    return pairs / taken


def _pairs_target(what: str, sample: list[float]) -> tuple[str, bool | None]:
    wanted = TARGETS.get(what)
    return (f"{wanted:,.0f}/s", median(sample) >= wanted) if wanted else ("", None)


def _best(sample: list[float]) -> tuple[str, str, str]:
    return f"{median(sample):,.0f}/s", f"{min(sample):,.0f}/s", f"{max(sample):,.0f}/s"


# --- in a shell ------------------------------------------------------------------------------------

CLAIM = "`headcount claim`, in a shell"
PS = "`headcount ps`, in a shell"


def _in_a_shell(made: Install, home: Path, session: str) -> dict[str, list[float]]:
    env: Mapping[str, str] = made.env(home)
    samples: dict[str, list[float]] = {CLAIM: [], PS: []}
    for nth in range(SHELL_ROUNDS + 1):
        commands = [(CLAIM, ["claim", f"task:shell-{nth}", "--as", session]), (PS, ["ps"])]
        for what, words in commands if nth % 2 else reversed(commands):
            began = time.perf_counter()
            subprocess.run([str(made.headcount), *words], env=env, check=True, stdout=subprocess.DEVNULL)
            if nth:  # the first of each fills the page cache
                samples[what].append(time.perf_counter() - began)
    return samples


def _spread(sample: list[float]) -> tuple[str, str, str]:
    return ms(median(sample)), ms(percentile(sample, 0.99)), ms(max(sample))
