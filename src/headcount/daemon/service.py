"""The service: the parts of a running daemon, as its routes and chores see them.

Rules of this file
  1. It holds, it does not construct (main.py) and it does not decide (core/).
  2. Answers come from the committed world only.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headcount import __version__
from headcount.core.events import Event, EventType
from headcount.core.session import Session
from headcount.core.world import World
from headcount.daemon.actor import Actors
from headcount.daemon.anchor import Anchors
from headcount.daemon.broadcast import Broadcast
from headcount.daemon.census import Census
from headcount.daemon.config import Config
from headcount.daemon.drift import Drift
from headcount.daemon.loop import Loop
from headcount.daemon.mailbox import Mailbox
from headcount.daemon.metrics import Histogram
from headcount.daemon.notifying import Notifier
from headcount.daemon.pages import Pages
from headcount.daemon.registries import Registries
from headcount.daemon.tokens import Tokens
from headcount.daemon.view import LIVENESS_WORDS, time_text, visible
from headcount.daemon.worktrees import Worktrees
from headcount.paths import Places
from headcount.store.sqlite import SqliteStore
from headcount.system.clock import Clock
from headcount.system.processes.port import Processes
from headcount.wire.messages import Status

DISK_LOW = 64 * 1024 * 1024


@dataclass(slots=True)
class Service:
    places: Places
    config: Config
    clock: Clock
    processes: Processes
    store: SqliteStore
    loop: Loop
    broadcast: Broadcast
    anchors: Anchors
    mailbox: Mailbox
    registries: Registries
    census: Census
    drift: Drift
    worktrees: Worktrees
    tokens: Tokens
    actors: Actors
    pages: Pages
    notifier: Notifier
    started_at: float
    ask_to_stop: Callable[[], object]
    set_aside: Path | None = None
    death_latency: Histogram = field(default_factory=Histogram)
    report_latency: Histogram = field(default_factory=Histogram)

    def tell(self, events: Sequence[Event], world: World) -> None:
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
            uptime_s=round(now - self.started_at, 3),
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
            store={
                "path": self.places.database,
                "bytes": self.store.size(),
                "seq": self.loop.world.seq,
                "fault": self.loop.fault,
                "set_aside": str(self.set_aside) if self.set_aside else None,
            },
            warnings=self.warnings(),
            unknown_events=dict(self.drift.unknown),
        )

    def warnings(self) -> list[str]:
        found = []
        if self.set_aside is not None:
            found.append(
                f"the store was damaged and is set aside as {self.set_aside}; history before it is there"
            )
        if self.loop.fault is not None:
            found.append(f"nothing can be stored now: {self.loop.fault}")
        if self.loop.counts["bugs"]:
            found.append(
                f"{self.loop.counts['bugs']} pieces of evidence could not be weighed; see {self.places.log}"
            )
        if shutil.disk_usage(self.places.state).free < DISK_LOW:
            found.append("the disk of the store is nearly full")
        return found


def sessions_shown(service: Service, *, ended: bool) -> list[Session]:
    return visible(service.loop.world.sessions.values(), service.clock.now(), ended=ended)
