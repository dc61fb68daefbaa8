"""Fan-out: from a kill to the event in the hands of the last of 50 readers of the stream, against one reader.

Beside it: 50 clients that ask for the list every two seconds, as dashboards without a stream do.
"""

import selectors
import socket
import threading
import time
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.idle import _spent
from bench.numbers import median, ms, percentile, times
from bench.plot import BLUE, ORANGE, Curve, chart, plain
from bench.sse import Stream
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon

SESSIONS = 100
READERS = (1, 5, 10, 25, 50)
KILLS = 60
POLLED_KILLS = 12
POLLED_EVERY = 2.0
PAUSE = 0.02


def measure() -> Figure:
    many = SESSIONS + KILLS * len(READERS) + POLLED_KILLS
    with scratch() as directory, running(directory, many) as (daemon, crowd):
        told = {readers: _told(daemon, crowd, readers) for readers in READERS}
        polled, polled_cpu = _polled(daemon, crowd, READERS[-1])
    one, most = told[READERS[0]][0], told[READERS[-1]][0]
    rows = [
        _row(f"{readers} reader{'s' if readers > 1 else ''}, the last has it", sample, cpu, median(one))
        for readers, (sample, cpu) in told.items()
    ]
    rows.append(
        _row(
            f"{READERS[-1]} clients asking every {POLLED_EVERY:.0f} s, the last knows",
            polled,
            polled_cpu,
            median(one),
        )
    )
    notes = (
        f"{KILLS} kills each, {SESSIONS} sessions and more alive; all readers are sockets of one process on the same cores.",
        f"Processor time is the daemon's, for each death; of those who ask it is that of all the asking between two deaths ({POLLED_KILLS} kills).",
    )
    ratio = Ratio(
        f"a death, in the hands of the last of {READERS[-1]}",
        ms(median(most)),
        f"{READERS[-1]} clients asking every {POLLED_EVERY:.0f} s: {ms(median(polled))}",
        median(polled) / median(most),
    )
    columns = ("p50", "p99", "slowest", "× one reader", "processor time")
    pictures = (("fan-out", _drawn(told)),)
    return Figure("fanout", "One event, many readers", columns, tuple(rows), notes, (ratio,), pictures)


def _row(what: str, sample: list[float], cpu: float, base: float) -> Row:
    return Row(
        what,
        (
            ms(median(sample)),
            ms(percentile(sample, 0.99)),
            ms(max(sample)),
            times(median(sample), base),
            ms(cpu),
        ),
    )


def _drawn(told: dict[int, tuple[list[float], float]]) -> str:
    halves = [(float(readers), median(sample) * 1000) for readers, (sample, _) in told.items()]
    tails = [(float(readers), percentile(sample, 0.99) * 1000) for readers, (sample, _) in told.items()]
    curves = [Curve("p50", halves, BLUE), Curve("p99", tails, ORANGE, dashed=True)]
    across, down = (
        plain("readers of the stream", [float(max(told))]),
        plain("ms to the last", [y for _, y in tails]),
    )
    return chart("From a kill to the last reader", across, down, curves, [float(readers) for readers in told])


def _told(daemon: Daemon, crowd: Crowd, readers: int) -> tuple[list[float], float]:
    """When the last of them had each death, and the daemon's processor time for each."""
    streams = [Stream(daemon.socket, settle=0.02) for _ in range(readers)]
    chooser = selectors.DefaultSelector()
    for stream in streams:
        stream.read_until_quiet(0.001)  # what came while the later ones were opened
        chooser.register(stream, selectors.EVENT_READ)
    before, sample = _spent(daemon.pid).seconds, []
    for _ in range(KILLS):
        member = crowd.take()
        time.sleep(PAUSE)
        began = time.perf_counter()
        member.kill()
        sample.append(_last(chooser, set(streams), member.pid) - began)
        member.reap()
    spent = (_spent(daemon.pid).seconds - before) / KILLS
    chooser.close()
    for stream in streams:
        stream.close()
    return sample, spent


def _last(chooser: selectors.BaseSelector, waiting: set[Stream], pid: int) -> float:
    last = 0.0
    while waiting:
        for key, _ in chooser.select(30):
            stream = key.fileobj
            assert isinstance(stream, Stream)
            for ended, at in stream.ended():
                if ended == pid:
                    waiting.discard(stream)
                    last = max(last, at)
    return last


# --- those who ask ---------------------------------------------------------------------------------


class Asking(threading.Thread):
    """One client: asks for the list at its own times and remembers when a pid was no longer in it."""

    def __init__(self, path: Path, phase: float, done: threading.Event) -> None:
        super().__init__(daemon=True)
        self._path, self._phase, self._done = path, phase, done
        self.gone: dict[int, float] = {}
        self.watched: set[int] = set()

    def run(self) -> None:
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(self._path))
            self._done.wait(self._phase)
            while not self._done.is_set():
                listed = _list(link)
                for pid in [pid for pid in self.watched if b'"pid":%d,' % pid not in listed]:
                    self.gone.setdefault(pid, time.perf_counter())
                self._done.wait(POLLED_EVERY)


def _list(link: socket.socket) -> bytes:
    link.sendall(b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n")
    got = b""
    while b"\r\n\r\n" not in got:
        got += link.recv(1 << 20)
    head, _, body = got.partition(b"\r\n\r\n")
    size = int(
        next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split(b":")[
            1
        ]
    )
    pieces = [body]
    while sum(map(len, pieces)) < size:
        pieces.append(link.recv(1 << 20))
    return b"".join(pieces)


def _polled(daemon: Daemon, crowd: Crowd, clients: int) -> tuple[list[float], float]:
    done = threading.Event()
    asking = [Asking(daemon.socket, POLLED_EVERY * nth / clients, done) for nth in range(clients)]
    for each in asking:
        each.start()
    time.sleep(POLLED_EVERY)
    before, sample = _spent(daemon.pid).seconds, []
    for _ in range(POLLED_KILLS):
        member = crowd.take()
        for each in asking:
            each.watched = {member.pid}
        began = time.perf_counter()
        member.kill()
        member.reap()
        while not all(member.pid in each.gone for each in asking):
            time.sleep(0.01)
        sample.append(max(each.gone[member.pid] for each in asking) - began)
    spent = (_spent(daemon.pid).seconds - before) / POLLED_KILLS
    done.set()
    for each in asking:
        each.join(10)
    return sample, spent
