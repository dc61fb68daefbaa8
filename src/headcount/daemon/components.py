"""The service: the parts of a running daemon, as its routes and chores see them.

Rules of this file
  1. It holds, it does not construct (main.py) and it does not decide (core/).
  2. Answers come from the committed world only.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, field

from headcount import __version__, build_and_namespaces
from headcount.agents.catalog import AGENTS
from headcount.agents.plugin_guard import Guarded
from headcount.bounded_thread import BoundedThreads
from headcount.core.sessions.start import UNPROVEN_MOST
from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType
from headcount.core.values.session import Session
from headcount.daemon.config import Config
from headcount.daemon.ending.stop_close_reap import Closing
from headcount.daemon.engine.broadcast import Broadcast
from headcount.daemon.engine.loop import Loop
from headcount.daemon.engine.notify_observers import EVERY, Observers
from headcount.daemon.fleet.membership import Fleet
from headcount.daemon.http.page_access import Pages
from headcount.daemon.identity.anchor import Anchors
from headcount.daemon.identity.caller import Actors
from headcount.daemon.identity.tokens import Tokens
from headcount.daemon.intake.agent_mailboxes import Mailboxes
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.edited_paths import Worktrees
from headcount.daemon.intake.mailbox import SIZE_MOST
from headcount.daemon.intake.mailbox_format import REPORTS_MOST
from headcount.daemon.intake.registries import Registries
from headcount.daemon.intake.unknown_events import Drift
from headcount.daemon.leftovers.collect import Aftermath
from headcount.daemon.observers.notifications import Notifier
from headcount.daemon.observers.terminals import Terminals
from headcount.daemon.views.session_row import LIVENESS_WORDS, ended_untold, time_text, visible
from headcount.paths import Places
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.clock import Clock
from headcount.system.files import FileEvents
from headcount.system.processes.interface import Processes
from headcount.wire.daemon import Status

DISK_LOW = 64 * 1024 * 1024
FILES_LOW = 100  # each report is one for a moment, and agents by the dozen report at once


LATENCY_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Histogram(Struct):
    buckets: list[int] = field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        self.total += seconds
        for nth, bound in enumerate(LATENCY_BOUNDS):
            if seconds <= bound:
                self.buckets[nth] += 1
                return
        self.buckets[-1] += 1

    def cumulative(self) -> list[tuple[str, float]]:
        rows, sum = [], 0
        for bound, count in zip((*map(str, LATENCY_BOUNDS), "+Inf"), self.buckets, strict=True):
            sum += count
            rows.append((bound, float(sum)))
        return rows


class Service(Struct):
    places: Places
    config: Config
    clock: Clock
    processes: Processes
    store: SqliteStore
    loop: Loop
    observers: Observers
    broadcast: Broadcast
    anchors: Anchors
    files: FileEvents
    mailboxes: Mailboxes
    adapters: Adapters
    registries: Registries
    census: Census
    drift: Drift
    worktrees: Worktrees
    looks: BoundedThreads
    terminals: Terminals
    aftermath: Aftermath
    tokens: Tokens
    actors: Actors
    closing: Closing
    fleet: Fleet
    pages: Pages
    notifier: Notifier
    started_at: float
    began: float  # the same by the steady clock: a clock that was set makes nobody younger
    ask_to_stop: Callable[[], object]
    set_aside: Path | None = None
    untold: dict[tuple[str, str], float] = field(default_factory=dict)
    """Agent and conversation whose starting context was not delivered -> when."""
    death_latency: Histogram = field(default_factory=Histogram)
    report_latency: Histogram = field(default_factory=Histogram)

    @property
    def wants(self) -> frozenset[EventType]:
        return EVERY

    def noticed(self, events: Sequence[Event], world: World) -> None:
        self.broadcast.publish(events, world)
        now = self.clock.now()
        for event in events:
            if event.type is EventType.SESSION_ENDED:
                self.death_latency.observe(max(0.0, now - event.at))
            elif event.type in (EventType.SESSION_ACTIVITY, EventType.SESSION_HEARD):
                self.report_latency.observe(max(0.0, now - event.at))

    def liveness_counts(self) -> Counter[str]:
        return Counter(LIVENESS_WORDS[each.liveness] for each in self.loop.world.sessions.values())

    def status(self) -> Status:
        now = self.clock.now()
        shown = visible(self.loop.world.sessions.values(), now, ended=False)
        return Status(
            pid=os.getpid(),
            version=__version__,
            build=build_and_namespaces.ours().build,
            uptime_s=round(self.clock.boottime() - self.began, 3),
            started_at=time_text(self.started_at),
            socket=self.places.socket,
            mailbox=self.places.mailbox,
            url=self.pages.url,
            sessions=len(shown),
            counts=dict(Counter(each.activity.doing.value for each in shown)),
            agents=dict(Counter(each.agent for each in shown)),
            processes=self.processes.name,
            watched=self.processes.watched(),
            polled=self.processes.polled(),
            polled_directories=self.files.polled(),
            store={
                "path": self.places.database,
                "bytes": self.store.size(),
                "seq": self.loop.world.seq,
                "fault": self.loop.fault,
                "set_aside": str(self.set_aside) if self.set_aside else None,
            },
            warnings=self.warnings(),
            unknown_events=dict(self.drift.unknown),
            rebooted=len(ended_untold(self.loop.world)),
        )

    def warnings(self) -> list[str]:
        found = []
        if self.set_aside is not None:
            found.append(
                f"the store was damaged and is set aside as {self.set_aside}; history before it is there"
            )
        if (loss := self.loop.world.book.loss) is not None:
            found.append(
                f"no claim is granted, since a store was lost ({loss}); accept it: headcount claims --accept-loss"
            )
        if self.loop.fault is not None:
            found.append(f"nothing can be stored now: {self.loop.fault}")
        if self.loop.counts["bugs"]:
            found.append(
                f"{self.loop.counts['bugs']} pieces of evidence could not be weighed; see {self.places.log}"
            )
        found += self.observers.warnings()
        found += mailbox_warnings(self.mailboxes.counts(), self.loop.counts)
        if self.looks.hanging:
            found.append(
                f"a file system does not answer: {self.looks.hanging} looks at it hang; claims of paths there are refused"
            )
        if self.processes.is_short():
            found.append(
                f"few descriptors are left: {self.processes.polled()} of {self.processes.watched()} processes are"
                " looked at every second, not watched"
            )
        if (drift := self.settings_drift()) is not None:
            found.append(drift)
        if self.pages.url is not None and not self.pages.knows_callers:
            found.append(
                "this kernel does not say which user connects to the page's port: the page's credential alone decides"
            )
        found += adapter_warnings(self.adapters)
        if self.fleet.fault is not None:
            found.append(self.fleet.fault)
        if shutil.disk_usage(self.places.state).free < DISK_LOW:
            found.append("the disk of the store is nearly full")
        if _files_left(self.places.state) < FILES_LOW:
            found.append("the disk of the store has no room for more files: hooks cannot drop their reports")
        return found

    def settings_drift(self) -> str | None:
        return self.config.drift(Path(self.places.config), os.environ)


def _files_left(directory: str) -> float:
    """How many more files the disk takes; some file systems set no bound, and say 0 of 0."""
    disk = os.statvfs(directory)
    return disk.f_favail if disk.f_files else float("inf")


def mailbox_warnings(mailbox: Counter[str], core: Counter[str]) -> list[str]:
    """What was dropped because it was over a bound."""
    found = []
    if mailbox["over_limit"]:
        found.append(
            f"{mailbox['over_limit']} mailbox files had more than {REPORTS_MOST} reports or {SIZE_MOST >> 20} MB:"
            f" the rest, {mailbox['dropped_bytes']} bytes, was dropped unread"
        )
    if core["unproven_refused"]:
        found.append(
            f"{core['unproven_refused']} reports of new sessions without a process were dropped: at most {UNPROVEN_MOST}"
            " such sessions are kept"
        )
    return found


def adapter_warnings(adapters: Adapters) -> list[str]:
    """Agents of which not everything can be known now, and why."""
    found = [f"the adapter {each.name} is not used: {each.why}" for each in AGENTS.broken]
    found += [
        f"the adapter of {name} {why}; what it would find is missing" for name, why in adapters.faults.items()
    ]
    guarded = (each for each in AGENTS.values() if isinstance(each, Guarded) and each.fault)
    return found + [f"the adapter of {each.name} failed in {each.fault}" for each in guarded]


def sessions_shown(service: Service, *, ended: bool) -> list[Session]:
    return visible(service.loop.world.sessions.values(), service.clock.now(), ended=ended)
