"""The parts of a running daemon, as its routes see them.

Rules
  1. It only holds the parts: daemon/composition.py constructs them, core/ decides.
  2. Only routes get it. A part gets the parts that it needs, never all of them.

Not here: constructing and starting the parts (daemon/composition.py).
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from headcount.bounded_thread import BoundedThreads
from headcount.core.values.session import Session
from headcount.daemon.config import Config
from headcount.daemon.ending.stop_close_reap import StopCloseReap
from headcount.daemon.engine.broadcast import Broadcast
from headcount.daemon.engine.call_observers import Observers
from headcount.daemon.engine.latencies import Latencies
from headcount.daemon.engine.loop import Loop
from headcount.daemon.fleet.membership import Fleet
from headcount.daemon.http.page_access import PageAccess
from headcount.daemon.identity.caller import Actors
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.identity.tokens import SessionTokens
from headcount.daemon.intake.agent_mailboxes import Mailboxes
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.edited_paths import EditedPaths
from headcount.daemon.intake.registries import Registries
from headcount.daemon.intake.unknown_events import UnknownEvents
from headcount.daemon.leftovers.collect import LeftoverCollector
from headcount.daemon.observers.notifications import Notifier
from headcount.daemon.observers.terminals import Terminals
from headcount.daemon.views.session_row import visible
from headcount.paths import Places
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.clock import Clock
from headcount.system.files import FileEvents
from headcount.system.processes.interface import Processes


class Components(Struct):
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
    latencies: Latencies
    mailboxes: Mailboxes
    adapters: Adapters
    registries: Registries
    census: Census
    drift: UnknownEvents
    worktrees: EditedPaths
    looks: BoundedThreads
    terminals: Terminals
    aftermath: LeftoverCollector
    tokens: SessionTokens
    actors: Actors
    closing: StopCloseReap
    fleet: Fleet
    pages: PageAccess
    notifier: Notifier
    started_at: float
    began: float  # the same by the steady clock: a clock that was set makes nobody younger
    ask_to_stop: Callable[[], object]
    set_aside: Path | None = None
    untold: dict[tuple[str, str], float] = field(default_factory=dict)
    """Agent and conversation whose starting context was not delivered -> when."""


def sessions_shown(parts: Components, *, ended: bool) -> list[Session]:
    return visible(parts.loop.world.sessions.values(), parts.clock.now(), ended=ended)
