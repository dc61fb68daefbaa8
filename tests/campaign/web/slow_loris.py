"""Slow senders and floods while agents die: every death is told, nothing is kept of those who never finish.

Five hundred connections, half on the unix socket and half on the page's port, each send a byte now and then; others send
garbage, heads without end and pipelined requests as fast as they can. Meanwhile agents begin and are killed, and the stream
must tell of each. Afterwards the slow ones are closed, and descriptors and memory are what they were.

The control is the same server as it comes out of the box: it serves slow heads for as long as they like.
"""

import contextlib
import random
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

from headcount.times import BODY_WITHIN, HEADERS_WITHIN
from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.agents.crowd import Crowd
from tests.rig.agents.kill_and_await_event import DeathsTold
from tests.rig.browser.page_port import Door
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.network.floods import Flood, SlowOnes, stock_server

CONNECTIONS = 500
AGENTS = 60
CONTROL = 50
TOLD_WITHIN = 5.0  # a busy machine is no fault; the median says how quick it is
GROWTH_MOST = 64  # megabytes; a head may have 32 KiB, 500 of them 16 MB
PAGE = 4096


class Campaign:
    def __init__(self, directory: Path, seed: int, deadline: float | None, told_within: float) -> None:
        self.directory = directory
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.told: list[float] = []
        self.told_within = told_within
        self.before = 0
        times = {} if deadline is None else {"HEADERS_WITHIN": deadline, "BODY_WITHIN": deadline}
        self.within = max(times.values(), default=max(HEADERS_WITHIN, BODY_WITHIN))
        env = altered.environment(**times)
        alone = lone_daemon(directory / "home")  # others' agents come and go, and each has a descriptor
        env["PYTHONPATH"] += f":{alone.env['PYTHONPATH']}"
        self.daemon = Daemon(directory / "home", **env)

    def run(self, connections: int, agents: int, progress: Progress) -> None:
        self.daemon.start(altered.WRAPPER)
        assert self.daemon.word == "ready", self.daemon.word
        try:
            port = Door(self.daemon, self.directory / "errands").port
            self.before = descriptors(self.daemon)  # without anybody to watch
            with Crowd(self.directory / "agents", agents) as crowd:
                self._besieged(crowd, port, connections, progress)
        finally:
            self.daemon.stop()
        self.counts["logged"] = self.daemon.log().count("Traceback")

    def _besieged(self, crowd: Crowd, port: int, connections: int, progress: Progress) -> None:
        deaths = DeathsTold(self.daemon, crowd)
        memory = resident(self.daemon)
        addresses: list[str | tuple[str, int]] = [str(self.daemon.socket), ("127.0.0.1", port)]
        slow = SlowOnes(addresses, connections, self.chance)
        floods = [Flood(address, kind) for address in addresses for kind in ("garbage", "heads", "pipelined")]
        most = memory
        try:
            for thread in floods:
                thread.start()
            slow.start()
            while len(crowd):
                progress(f"slow loris: {slow.open_ones} slow, {len(crowd)} agents to go")
                self.told.append(deaths.kill_one(self.told_within * 2))
                most = max(most, resident(self.daemon))
            eventually(lambda: slow.open_ones == 0, within=self.within * 2 + 60)
            most = max(most, resident(self.daemon))
        finally:
            slow.stop()
            for thread in floods:
                thread.stop()
            deaths.close()
        self.counts["floods"] = sum(thread.sent for thread in floods)
        self.counts["slow"], self.counts["closed"] = connections, slow.closed
        self.counts["late"] = sum(took > self.told_within for took in self.told)
        with contextlib.suppress(AssertionError):  # what is left then is told below
            eventually(lambda: descriptors(self.daemon) <= self.before + 4, within=60)
        self.counts["descriptors"] = descriptors(self.daemon) - self.before
        self.counts["megabytes"] = (most - memory) // 2**20


def descriptors(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def resident(daemon: Daemon) -> int:
    return int(Path(f"/proc/{daemon.pid}/statm").read_text().split()[1]) * PAGE


def still_served(count: int, patience: float, chance: random.Random) -> int:
    """How many slow heads the stock server still takes after that long."""
    with stock_server() as port:
        slow = SlowOnes([("127.0.0.1", port)], count, chance)
        slow.start()
        time.sleep(patience)  # the patience itself is what is measured
        left = slow.open_ones
        slow.stop()
    return left


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    connections: int = CONNECTIONS,
    agents: int = AGENTS,
    deadline: float | None = None,
    told_within: float = TOLD_WITHIN,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed, deadline, told_within)
        campaign.run(connections, agents, progress)
    patience = (HEADERS_WITHIN if deadline is None else deadline) * 1.5
    left = still_served(CONTROL, patience, campaign.chance)
    return _outcome(campaign, left, patience)


def _outcome(campaign: Campaign, left: int, patience: float) -> Outcome:
    counts, told = campaign.counts, campaign.told
    median, worst = statistics.median(told) * 1000, max(told) * 1000
    rows = (
        Row("slow connections, a byte at a time", f"{counts['slow']:,}"),
        Row("requests and fragments of floods", f"{counts['floods']:,}"),
        Row("agents killed meanwhile", str(len(told))),
        Row(f"ours: deaths not told within {campaign.told_within:.0f} s", str(counts["late"]), "0", counts["late"] == 0),
        Row("  kill to stream, median / slowest", f"{median:.0f} ms / {worst:.0f} ms"),
        Row("ours: slow connections closed", f"{counts['closed']:,}", f"{counts['slow']:,}", counts["closed"] == counts["slow"]),
        Row("ours: descriptors more than before", str(counts["descriptors"]), "4 at most", counts["descriptors"] <= 4),
        Row("ours: memory more than before, at its most", f"{counts['megabytes']} MB", f"{GROWTH_MOST} MB at most", counts["megabytes"] <= GROWTH_MOST),
        Row("ours: errors logged", str(counts["logged"]), "0", counts["logged"] == 0),
        Row(f"control, the server as it comes: slow heads still served after {patience:.0f} s", f"{left} of {CONTROL}", "more than 0", left > 0),
    )  # fmt: skip
    return Outcome("slow_loris", "Slow senders and floods while agents die", rows)
