"""The composition root: constructs every part of the daemon, starts them in order, closes them in reverse.

Rules
  1. Everything is constructed here, once, in the order in which it is needed. Nothing is patched in afterwards.
  2. Recovery is committed before a socket listens or a mailbox is read.
  3. What was started is closed in reverse, each by the stack that it was put on; the store is last.
  4. A background task that fails is logged and ends the daemon: one that runs in part would miss events.

A new observer is one line in `self.parts`; a new background task one line in `start`.
Not here: what the parts do; process entry, log and restart (main.py).
"""

import asyncio
import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

from headcount import __version__
from headcount.agents.catalog import AGENTS
from headcount.agents.installing.hook_line_mailbox import directory_of
from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.evidence import Awake, Retire
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Verdict
from headcount.daemon.components import Components
from headcount.daemon.config import Config
from headcount.daemon.ending.idle_close import IdleClose
from headcount.daemon.ending.signal_process import ProcessEnder
from headcount.daemon.ending.stop_close_reap import StopCloseReap
from headcount.daemon.ending.tmux_windows import TmuxWindows
from headcount.daemon.engine.broadcast import Broadcast
from headcount.daemon.engine.call_observers import Observers, Part
from headcount.daemon.engine.deaths import Deaths
from headcount.daemon.engine.latencies import Latencies
from headcount.daemon.engine.loop import Inbox, Loop
from headcount.daemon.engine.pruning import keep_pruned
from headcount.daemon.engine.recovery import boots_of, open_book, recover
from headcount.daemon.engine.watchdog import Watchdog, notify
from headcount.daemon.fleet.intervals import Intervals
from headcount.daemon.fleet.membership import Fleet
from headcount.daemon.home.home_watch import HomeWatch, open_store
from headcount.daemon.http.listen import HttpServer
from headcount.daemon.http.page_access import PageAccess
from headcount.daemon.identity.caller import Actors
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.identity.tokens import SessionTokens
from headcount.daemon.intake.agent_mailboxes import Mailboxes
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.directory_hints import DirectoryHints
from headcount.daemon.intake.edited_paths import EditedPaths
from headcount.daemon.intake.mailbox import Mailbox
from headcount.daemon.intake.open_conversations import OpenConversations
from headcount.daemon.intake.registries import Registries
from headcount.daemon.intake.unknown_events import UnknownEvents
from headcount.daemon.leftovers.collect import LeftoverCollector
from headcount.daemon.leftovers.descendants import Descendants
from headcount.daemon.leftovers.search import LeftoverSearch
from headcount.daemon.observers.checkouts import Checkouts
from headcount.daemon.observers.notifications import Notifier
from headcount.daemon.observers.stalls import Stalls
from headcount.daemon.observers.terminals import Terminals
from headcount.daemon.observers.tmux_segment import TmuxSegment
from headcount.daemon.observers.transcript_forks import TranscriptForks
from headcount.daemon.observers.transcripts import Transcripts, TranscriptWatch
from headcount.daemon.routes.dispatch import build_app
from headcount.paths import Places
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.clock import Clock, SystemClock
from headcount.system.files import open_file_events
from headcount.system.processes.choose import open_processes
from headcount.system.processes.interface import Processes
from headcount.times import DAY, MINUTE

log = logging.getLogger("headcount.daemon")

CLAUDE = "claude-code"


class StoreDamaged(Exception):
    """The store broke while it was in use; only a new start can set it aside."""


async def run(places: Places, ready: Callable[[], None]) -> None:
    config = Config.read(Path(places.config), os.environ)
    clock = SystemClock()
    with ExitStack() as opened:
        processes = open_processes(asyncio.get_running_loop(), config.processes, config.without)
        opened.callback(processes.close)
        store = open_store(places, processes.place().machine, clock.now)
        opened.callback(store.close)
        daemon = RunningDaemon(places, config, clock, processes, store)
        opened.callback(daemon.home.close)
        try:
            await daemon.start()
            ready()
            await daemon.server.ended()
        finally:
            await daemon.stop()


class BackgroundTasks:
    """Tasks that run as long as the daemon. One that fails ends it."""

    def __init__(self, on_fault: Callable[[BaseException], object]) -> None:
        self._on_fault = on_fault
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, work: Coroutine[object, object, None], name: str) -> None:
        self._tasks.append(self.watched(work, name))

    def watched(self, work: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """As `add`, but somebody else stops it."""
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        return task

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._on_fault(fault)
            log.critical("%s failed; headcount ends", task.get_name(), exc_info=fault)


class RunningDaemon:
    def __init__(
        self, places: Places, config: Config, clock: Clock, processes: Processes, store: SqliteStore
    ) -> None:
        event_loop = asyncio.get_running_loop()
        loaded = store.loaded
        book, boots = open_book(loaded, clock.now()), boots_of(loaded)
        world = World(processes.place(), loaded.sessions, loaded.seq, book, boots, loaded.leftovers)
        state = Path(places.state)
        server = HttpServer(processes.make_room)
        home = HomeWatch(places, store, server, world)

        def prove(process: ProcessIdentity) -> Verdict:
            return processes.prove(process, world.machine_of(process.boot))

        # the loop, and what it needs
        inbox, counts = Inbox(), Counter[str]()
        observers = Observers(counts)
        anchors = Anchors(processes, clock, world.find_process)
        tokens = SessionTokens(state / "tokens", store.tokens, processes, clock)
        descendants = Descendants(processes, clock, world.find_process, counts)
        deaths = Deaths(
            processes, clock, inbox.put, forget=(anchors.forget, tokens.withdraw), left_by=descendants.take
        )
        loop = Loop(
            world,
            store,
            clock,
            start_effects=deaths.start,
            tell=observers.tell,
            prove=prove,
            judged=deaths.judged,
            stored=home.stored,
            inbox=inbox,
            counts=counts,
        )

        # what brings evidence in
        files, adapters, drift = open_file_events(event_loop), Adapters(counts), UnknownEvents()
        looks = BoundedThreads("look")
        spaces = HostPaths(loop, looks, clock)
        worktrees = EditedPaths(clock, looks, spaces)
        hosting = OpenConversations(loop, processes, anchors, clock, adapters, spaces)
        census = Census(loop, processes, anchors, clock, adapters, hosting, judged=deaths.judged)
        registries = Registries(loop, processes, anchors, files, drift, spaces)
        tasks = BackgroundTasks(self._task_failed)
        boxes = [
            Mailbox(
                directory_of(Path(places.mailbox), agent.name),
                agent,
                loop,
                anchors,
                files,
                clock,
                drift,
                worktrees,
            )
            for agent in AGENTS.values()
        ]
        mailboxes = Mailboxes(
            Path(places.mailbox), boxes, files, lambda mailbox: tasks.add(mailbox.run(), "mailbox")
        )

        # what follows events
        transcripts = Transcripts(AGENTS, loop, anchors.began_at)
        search = LeftoverSearch(loop, processes, clock, looks, tokens.files)
        terminals = Terminals(loop, processes, clock, os.environ)
        aftermath = LeftoverCollector(loop, processes, clock, config, terminals, registries, search, looks)
        self.parts: tuple[Part, ...] = (
            transcripts,
            TranscriptWatch(AGENTS, loop, files, transcripts),
            Checkouts(loop, worktrees, clock),
            Stalls(loop, processes, clock, config.stall_minutes * MINUTE, looks),
            descendants,
            search,
            TranscriptForks(AGENTS, loop, clock),
            aftermath,
            terminals,
        )
        broadcast, latencies = Broadcast(), Latencies(clock)
        fleet = Fleet(state, loop, clock, prove, Intervals(config.fleet_pace))
        notifier = Notifier(config, store, clock, processes)
        segment = TmuxSegment(clock, wanted=config.notify_tmux_segment)
        observers.add(broadcast, latencies, *self.parts, fleet, notifier, segment)

        # what answers
        closing = StopCloseReap(
            ProcessEnder(processes, loop, clock),
            descendants,
            search,
            processes,
            loop,
            clock,
            deaths.judged,
            TmuxWindows(loop, processes, clock),
        )
        self.components = Components(
            places=places,
            config=config,
            clock=clock,
            processes=processes,
            store=store,
            loop=loop,
            observers=observers,
            broadcast=broadcast,
            anchors=anchors,
            files=files,
            latencies=latencies,
            mailboxes=mailboxes,
            adapters=adapters,
            registries=registries,
            census=census,
            drift=drift,
            worktrees=worktrees,
            looks=looks,
            terminals=terminals,
            aftermath=aftermath,
            tokens=tokens,
            actors=Actors(processes, loop, clock, tokens),
            closing=closing,
            fleet=fleet,
            pages=PageAccess(clock, server, config.web_port),
            notifier=notifier,
            started_at=clock.now(),
            began=clock.boottime(),
            set_aside=loaded.set_aside,
            ask_to_stop=lambda: event_loop.call_soon(server.end),
        )
        stacks = Path(places.log).with_name("stacks.txt")
        self.watchdog = Watchdog(
            event_loop, stacks, processes.make_room, home.look, on_alive=lambda: notify("WATCHDOG=1")
        )
        self.server, self.home, self.loop, self.tasks = server, home, loop, tasks
        self._deaths, self._hosting, self._search, self._segment = deaths, hosting, search, segment
        self._hints = DirectoryHints(files, census.hinted)
        self._stack = AsyncExitStack()
        self.deciding: asyncio.Task[None] | None = None

    async def start(self) -> None:
        parts, world, stack = self.components, self.loop.world, self._stack
        event_loop = asyncio.get_running_loop()
        parts.census.look_ahead()
        self.server.serve_app(build_app(parts))
        for number in (signal.SIGTERM, signal.SIGINT):
            event_loop.add_signal_handler(number, self.server.end)
        stack.push_async_callback(self._stop_loop)
        await self._recover()
        await parts.tokens.open()
        await parts.notifier.open(world)
        stack.callback(parts.files.close)
        self.watchdog.start()
        stack.callback(self.watchdog.stop)
        stack.push_async_callback(self._segment.close)
        stack.callback(parts.notifier.close)
        stack.callback(self.tasks.close)
        parts.mailboxes.open()
        stack.callback(parts.mailboxes.close, for_good=True)
        for agent in AGENTS.values():
            more = parts.config.claude_roots if agent.name == CLAUDE else ()
            parts.registries.open(agent, os.environ, Path.home(), more)
        self._hosting.open(AGENTS, os.environ, Path.home())
        self._hints.open(place.directory for places in self._hosting.places().values() for place in places)
        stack.callback(self._hints.close)
        for part in self.parts:
            part.start(world)
            stack.callback(part.close)
        self.tasks.add(parts.census.run(), "census")
        self.tasks.add(
            keep_pruned(self.loop, parts.store, parts.clock, parts.config, parts.tokens.tidy), "prune"
        )
        self.tasks.add(parts.notifier.run(), "notifier")
        self.tasks.add(self._search.start_up(parts.census.take), "orphans")
        if (limit := parts.config.idle_limit) is not None:
            self.tasks.add(IdleClose(self.loop, parts.closing, parts.clock, limit).run(), "idle close")
        parts.fleet.start()
        stack.push_async_callback(parts.fleet.close)
        self.home.open(parts.files)
        serving = asyncio.create_task(self.server.serve())
        stack.push_async_callback(lambda: serving)
        stack.callback(parts.broadcast.close)
        remembered = len(world.sessions)
        notify(f"READY=1\nSTATUS=headcount {__version__}, {remembered} sessions remembered")
        log.info(
            "headcount %s is up: %s adapter, %d sessions remembered",
            __version__,
            parts.processes.name,
            remembered,
        )

    async def stop(self) -> None:
        self.home.check()
        notify("STOPPING=1")
        self.server.end()
        await self._stack.aclose()

    async def _recover(self) -> None:
        """Prove again what was remembered and store it before anyone can ask. A full disk does not keep us from
        watching: the evidence waits until it can be stored."""
        parts, now = self.components, self.components.clock.now()
        for evidence in recover(self.loop.world, parts.store.loaded, self._deaths, now):
            self.loop.put(evidence)
        kept = self.loop.submit(Retire(now - parts.config.retention_days * DAY, parts.config.sessions_kept))
        self.deciding = self.tasks.watched(self.loop.run(), "loop")
        waiting: list[asyncio.Future[Any]] = [kept, self.deciding]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not kept.done():
            self._raise_damage()
        elif kept.exception() is not None:
            log.error("nothing could be stored at the start: %s", kept.exception())

    async def _stop_loop(self) -> None:
        if self.deciding is not None:
            self.loop.put(Awake(self.components.clock.now(), stopping=True))
            self.loop.stop()
            await asyncio.wait([self.deciding])
        self._raise_damage()

    def _raise_damage(self) -> None:
        if self.deciding is None or not self.deciding.done() or self.deciding.cancelled():
            return
        fault = self.deciding.exception()
        if isinstance(fault, StoreFault) and fault.kind == "corrupt":
            self.home.check()  # a new start would make a home that was removed
            raise StoreDamaged from fault

    def _task_failed(self, fault: BaseException) -> None:
        self.home.ends_by(fault)
        self.server.end()
