"""Growth from 10 to 10,000 sessions: what a listing, a death, a report and a session cost as there are more of them.

Beside it, on the same processes: one pass of a scan that reads the state and the command line of every process, as
tools do that poll.
"""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import scratch
from bench.idle import _pss
from bench.ingest import _is_empty
from bench.numbers import median, ms, percentile
from bench.plot import BLUE, GREEN, GREY, ORANGE, RED, Curve, chart, tens
from bench.sse import hear_each_death
from bench.wheel import Install, install
from headcount.system.processes.descriptor_limits import raise_nofile
from tests.rig.agents import mailbox_files
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon, eventually

SIZES = (10, 100, 1_000, 10_000)
KILLS = 40
LISTINGS = 7
REPORTS = 3_000
SCANS = 5
PAUSE = 0.02
WITHIN = 0.1
BESIDE = 500  # descriptors for everything else


@dataclass(frozen=True, slots=True)
class Grown:
    size: int
    listing: float  # `headcount ps`, whole
    answer: float  # the daemon's part of it
    deaths: list[float]
    reports: float  # a second
    memory: float
    scan: float

    @property
    def p99(self) -> float:
        return percentile(self.deaths, 0.99)


def measure() -> Figure:
    with scratch() as directory:
        made = install(directory)
        room = raise_nofile() - BESIDE  # a descriptor for each process, here and in the daemon
        sizes = [size for size in SIZES if size + KILLS < room]
        grown = [_grown(directory / f"size-{size}", made, size) for size in sizes]
    first, last = grown[0], grown[-1]
    rows = [
        Row("`headcount ps`, piped", tuple(ms(each.listing) for each in grown)),
        Row("  of it the daemon's answer", tuple(ms(each.answer) for each in grown)),
        Row("a death, p50", tuple(ms(median(each.deaths)) for each in grown)),
        Row(
            "a death, p99",
            tuple(ms(each.p99) for each in grown),
            "100 ms",
            all(each.p99 < WITHIN for each in grown),
        ),
        Row("reports a second, durable", tuple(f"{each.reports:,.0f}/s" for each in grown)),
        Row("memory (PSS)", tuple(f"{each.memory / 1e6:.1f} MB" for each in grown)),
        Row("a scan of all processes, one pass", tuple(ms(each.scan) for each in grown)),
    ]
    notes = (
        f"{KILLS} deaths, {LISTINGS} listings, {REPORTS:,} reports (moved in) and {SCANS} scans at each size; medians.",
        "A death is from the kill to the event on the stream, its commit with fsync included.",
        "The scan reads stat and cmdline of every process; a loop that polls makes such a pass at each of its looks, and learns of a death half its interval later.",
    )
    ratio = Ratio(
        f"a death with {last.size:,} sessions",
        ms(median(last.deaths)),
        f"with {first.size}: {ms(median(first.deaths))}; one pass of a scan alone: {ms(last.scan)}",
        last.scan / median(last.deaths),
        "p99 under 100 ms",
        last.p99 < WITHIN,
    )
    columns = tuple(f"{size:,}" for size in sizes)
    return Figure(
        "growth",
        "From 10 to 10,000 sessions",
        columns,
        tuple(rows),
        notes,
        (ratio,),
        (("growth", _drawn(grown)),),
    )


def _drawn(grown: list[Grown]) -> str:
    def curve(name: str, colour: str, values: list[float], dashed: bool = False) -> Curve:
        return Curve(
            name,
            [(float(each.size), value) for each, value in zip(grown, values, strict=True)],
            colour,
            dashed,
        )

    curves = [
        curve("headcount ps, ms", BLUE, [each.listing * 1000 for each in grown]),
        curve("a death p50, ms", GREEN, [median(each.deaths) * 1000 for each in grown]),
        curve("a death p99, ms", GREEN, [each.p99 * 1000 for each in grown], dashed=True),
        curve("memory, MB", GREY, [each.memory / 1e6 for each in grown]),
        curve("one pass of a scan, ms", RED, [each.scan * 1000 for each in grown]),
        curve("a report, µs", ORANGE, [1e6 / each.reports for each in grown], dashed=True),
    ]
    values = [y for each in curves for _, y in each.points]
    return chart(
        "What grows with the sessions",
        tens("sessions", [float(each.size) for each in grown]),
        tens("", values),
        curves,
    )


def _grown(directory: Path, made: Install, size: int) -> Grown:
    # the daemon first: the rig waits for its word with select(2), which knows small descriptors only
    with Daemon(directory / "home") as daemon, Crowd(directory / "agents", size + KILLS) as crowd:
        _introduce(daemon, crowd)
        memory = _pss(daemon.pid)
        listing = [_listing(made, daemon.home) for _ in range(LISTINGS)]
        answer = [_answer(daemon) for _ in range(LISTINGS)]
        scan = [_scan() for _ in range(SCANS)]
        deaths = hear_each_death(daemon.socket, crowd, KILLS, PAUSE)
        reports = _reports(daemon, crowd, directory / "beside")
    return Grown(size, median(listing), median(answer), deaths, reports, memory, median(scan))


def _introduce(daemon: Daemon, crowd: Crowd) -> None:
    """Without asking for the list again and again: at ten thousand that would be most of the work."""
    for member in crowd.members:
        body = mailbox_files.payload(member, "SessionStart", source="startup", model="some-model")
        mailbox_files.drop(daemon.mailbox, member, body)
    eventually(lambda: _is_empty(daemon.mailbox), within=300)
    names = {member.conversation for member in crowd.members}

    def all_known() -> bool:
        rows = daemon.get("/v1/sessions")["sessions"]
        return names <= {row["conversation"] for row in rows if row["liveness"] == "alive"}

    eventually(all_known, within=300)


def _listing(made: Install, home: Path) -> float:
    began = time.perf_counter()
    subprocess.run([str(made.headcount), "ps"], env=made.env(home), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _answer(daemon: Daemon) -> float:
    began = time.perf_counter()
    daemon.call("GET", "/v1/sessions")
    return time.perf_counter() - began


def _scan() -> float:
    began = time.perf_counter()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                for file in ("stat", "cmdline"):
                    fd = os.open(f"/proc/{name}/{file}", os.O_RDONLY)
                    os.read(fd, 4096)
                    os.close(fd)
            except OSError:
                continue
    return time.perf_counter() - began


def _reports(daemon: Daemon, crowd: Crowd, beside: Path) -> float:
    """Made beforehand and moved in, so that the maker is not the limit."""
    beside.mkdir(parents=True)
    for nth in range(REPORTS):
        member = crowd.members[nth % len(crowd)]
        mailbox_files.drop(beside, member, mailbox_files.tool_use(member, nth // len(crowd)))
    names = sorted(os.listdir(beside), key=lambda name: int(name.rpartition(".")[2]))
    began = time.perf_counter()
    for name in names:
        os.rename(beside / name, daemon.mailbox / name)
    eventually(lambda: _is_empty(daemon.mailbox), within=300)
    return REPORTS / (time.perf_counter() - began)
