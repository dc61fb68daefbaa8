"""A running daemon: its parts put together, brought up, kept, and taken down in order.

Rules of this file
  1. Recovery is committed before a socket listens or a mailbox is read.
  2. Background chores that fail are logged and end the daemon: half a daemon is a deaf one.
  3. Taking down is the reverse of bringing up; the store is last.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from headcount import __version__
from headcount.agents.catalog import AGENTS
from headcount.agents.installing.mailbox_line import directory_of
from headcount.agents.interface import Agent
from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.evidence import Awake, Retire
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Verdict
from headcount.daemon.components import Service
from headcount.daemon.config import Config
from headcount.daemon.ending.idle_close import IdleClose
from headcount.daemon.ending.signal_process import Endings
from headcount.daemon.ending.stop_close_reap import Closing
from headcount.daemon.ending.tmux_windows import TmuxWindows
from headcount.daemon.engine.broadcast import Broadcast
from headcount.daemon.engine.deaths import Effects
from headcount.daemon.engine.loop import Loop
from headcount.daemon.engine.notify_observers import Observer, Observers
from headcount.daemon.engine.pruning import keep_pruned
from headcount.daemon.engine.recovery import boots_of, open_book, recover
from headcount.daemon.engine.watchdog import Watchdog, notify
from headcount.daemon.fleet.intervals import Pace
from headcount.daemon.fleet.membership import Fleet
from headcount.daemon.home.home_watch import Home, open_store
from headcount.daemon.http.listen import Server
from headcount.daemon.http.page_access import Pages
from headcount.daemon.identity.anchor import Anchors
from headcount.daemon.identity.caller import Actors
from headcount.daemon.identity.host_paths import Spaces
from headcount.daemon.identity.tokens import Tokens
from headcount.daemon.intake.agent_mailboxes import Mailboxes
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.directory_hints import Hints
from headcount.daemon.intake.edited_paths import Worktrees
from headcount.daemon.intake.mailbox import Mailbox
from headcount.daemon.intake.open_conversations import Hosting
from headcount.daemon.intake.registries import Registries
from headcount.daemon.intake.unknown_events import Drift
from headcount.daemon.leftovers.collect import Aftermath
from headcount.daemon.leftovers.descendants import Descendants
from headcount.daemon.leftovers.search import Search
from headcount.daemon.observers.checkouts import Checkouts
from headcount.daemon.observers.notifications import Notifier
from headcount.daemon.observers.stalls import Stalls
from headcount.daemon.observers.terminals import Terminals
from headcount.daemon.observers.tmux_segment import Segment
from headcount.daemon.observers.transcript_forks import Forks
from headcount.daemon.observers.transcripts import Follow, Transcripts
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


class Listener(Observer, Protocol):
    """Whoever looks further because of what became true, and stops looking at the end."""

    def close(self) -> None: ...


class StoreDamaged(Exception):
    """The store broke while it was in use; only a new start can set it aside."""


async def run(places: Places, ready: Callable[[], None]) -> None:
    event_loop = asyncio.get_running_loop()
    config = Config.read(Path(places.config), os.environ)
    clock = SystemClock()
    processes = open_processes(event_loop, config.processes, config.without)
    store = open_store(places, processes.place().machine, clock.now)
    try:
        running = Running(places, config, clock, processes, store)
        try:
            await running.bring_up()
            ready()
            await running.server.ended()
        finally:
            try:
                await running.take_down()
            finally:
                running.home.close(running.loop.world.book)
    finally:
        processes.close()
        store.close()


class Running:
    def __init__(
        self, places: Places, config: Config, clock: Clock, processes: Processes, store: SqliteStore
    ) -> None:
        event_loop = asyncio.get_running_loop()
        self.places = places
        loaded = store.loaded
        book, boots = open_book(loaded, clock.now()), boots_of(loaded)
        world = World(processes.place(), loaded.sessions, loaded.seq, book, boots, loaded.leftovers)
        self.server = Server(processes.make_room)
        self.home = Home(places, store, self.server)

        def prove(process: ProcessIdentity) -> Verdict:
            return processes.prove(process, world.machine_of(process.boot))

        self.files = open_file_events(event_loop)
        self.anchors = Anchors(processes, clock, world.find_process)
        self.loop = Loop(
            world,
            store,
            clock,
            start_effects=lambda effects: self.effects.start(effects),
            tell=lambda events, world: self.observers.tell(events, world),
            prove=prove,
            stored=self.home.stored,
        )
        self.observers = Observers(self.loop.counts)
        self.transcripts = Transcripts(AGENTS, self.loop, self.anchors.began_at)
        self.follow = Follow(AGENTS, self.loop, self.files, self.transcripts)
        self.adapters = Adapters(self.loop.counts)
        drift, looks = Drift(), BoundedThreads("look")
        spaces = Spaces(self.loop, looks, clock)
        self.hosting = Hosting(self.loop, processes, self.anchors, clock, self.adapters, spaces)
        worktrees = Worktrees(clock, looks, spaces)
        self.checkouts = Checkouts(self.loop, worktrees, clock)
        self.stalls = Stalls(self.loop, processes, clock, config.stall_minutes * MINUTE, looks)
        self.descendants = Descendants(processes, clock, world.find_process, self.loop.counts)
        self.tokens = Tokens(Path(places.state) / "tokens", store.tokens, processes, clock)
        self.search = Search(self.loop, processes, clock, looks, self.tokens.files)
        self.forks = Forks(AGENTS, self.loop, clock)
        self.terminals = Terminals(self.loop, processes, clock, os.environ)
        self.effects = Effects(processes, clock, self.loop.put, self._forget, self.descendants.take)
        registries = Registries(self.loop, processes, self.anchors, self.files, drift, spaces)
        self.aftermath = Aftermath(
            self.loop, processes, clock, config, self.terminals, registries, self.search, looks
        )
        self.segment = Segment(clock, wanted=config.notify_tmux_segment)
        self.fleet = Fleet(Path(places.state), self.loop, clock, prove, Pace(config.fleet_pace))
        self.service = Service(
            places=places,
            config=config,
            clock=clock,
            processes=processes,
            store=store,
            loop=self.loop,
            observers=self.observers,
            broadcast=Broadcast(),
            anchors=self.anchors,
            files=self.files,
            mailboxes=Mailboxes(
                Path(places.mailbox),
                [self._mailbox(agent, clock, drift, worktrees) for agent in AGENTS.values()],
                self.files,
                lambda mailbox: self.chores.append(self._chore(mailbox.run(), "mailbox")),
            ),
            adapters=self.adapters,
            registries=registries,
            census=Census(
                self.loop, processes, self.anchors, clock, self.adapters, self.hosting, died=self.effects.died
            ),
            drift=drift,
            worktrees=worktrees,
            looks=looks,
            terminals=self.terminals,
            aftermath=self.aftermath,
            tokens=self.tokens,
            actors=Actors(processes, self.loop, clock, self.tokens),
            closing=Closing(
                Endings(processes, self.loop, clock),
                self.descendants,
                self.search,
                processes,
                self.loop,
                clock,
            ),
            fleet=self.fleet,
            pages=Pages(clock, self.server, config.web_port),
            notifier=Notifier(config, store, clock, processes),
            started_at=clock.now(),
            began=clock.boottime(),
            set_aside=store.loaded.set_aside,
            ask_to_stop=lambda: event_loop.call_soon(self.server.end),
        )
        self.listeners: tuple[Listener, ...] = (
            self.transcripts,
            self.follow,
            self.checkouts,
            self.stalls,
            self.descendants,
            self.search,
            self.forks,
            self.aftermath,
            self.terminals,
        )
        self.observers.all = (
            self.service, *self.listeners, self.fleet, self.service.notifier, self.segment,
        )  # fmt: skip
        self.hints = Hints(self.files, self.service.census.hinted)
        self.service.closing.windows = TmuxWindows(self.loop, processes, clock)
        stacks = Path(places.log).with_name("stacks.txt")
        asked = (processes.make_room, self.home.look)
        self.watchdog = Watchdog(event_loop, stacks, *asked, on_alive=lambda: notify("WATCHDOG=1"))
        self.deciding: asyncio.Task[None] | None = None
        self.chores: list[asyncio.Task[None]] = []
        self.serving: asyncio.Task[None] | None = None

    def _mailbox(self, agent: Agent, clock: Clock, drift: Drift, worktrees: Worktrees) -> Mailbox:
        directory = directory_of(Path(self.places.mailbox), agent.name)
        return Mailbox(directory, agent, self.loop, self.anchors, self.files, clock, drift, worktrees)

    def _forget(self, process: ProcessIdentity) -> None:
        """It ended: nothing that was settled about it stands."""
        self.anchors.forget(process)
        self.tokens.withdraw(process)

    async def bring_up(self) -> None:
        service, event_loop = self.service, asyncio.get_running_loop()
        service.census.look_ahead()
        self.server.serve_app(build_app(service))
        for number in (signal.SIGTERM, signal.SIGINT):
            event_loop.add_signal_handler(number, self.server.end)
        await self._recover()
        await self.tokens.open()
        await service.notifier.open(self.loop.world)
        self.watchdog.start()
        service.mailboxes.open()
        for agent in AGENTS.values():
            more = service.config.claude_roots if agent.name == CLAUDE else ()
            service.registries.open(agent, os.environ, Path.home(), more)
        for session in self.loop.world.open_sessions():
            self.transcripts.want(session)
            self.follow.see(session)
            self.terminals.want(session)
            if session.process is not None:
                self.descendants.want(session.process)
        self.hosting.open(AGENTS, os.environ, Path.home())
        self.hints.open(place.directory for places in self.hosting.places().values() for place in places)
        self.checkouts.want(self.loop.world.open_sessions())
        self.stalls.want(self.loop.world)
        self.aftermath.start_up()
        self.chores += [
            self._chore(service.census.run(), "census"),
            self._chore(keep_pruned(service), "prune"),
            self._chore(service.notifier.run(), "notifier"),
            self._chore(self.search.start_up(service.census.take), "orphans"),
        ]
        limit = service.config.idle_limit
        if limit is not None:
            idle = IdleClose(self.loop, service.closing, service.clock, limit)
            self.chores.append(self._chore(idle.run(), "idle close"))
        self.fleet.start()
        self.home.open(self.files)
        self.serving = asyncio.create_task(self.server.serve())
        remembered = len(self.loop.world.sessions)
        notify(f"READY=1\nSTATUS=headcount {__version__}, {remembered} sessions remembered")
        log.info(
            "headcount %s is up: %s adapter, %d sessions remembered",
            __version__,
            service.processes.name,
            remembered,
        )

    async def _recover(self) -> None:
        """What was remembered is re-proved and stored before anybody can ask. A disk that is full does
        not keep us from watching: the evidence waits until it can be stored."""
        service, now = self.service, self.service.clock.now()
        for evidence in recover(
            self.loop.world, service.store.loaded, service.processes, self.effects.died, now
        ):
            self.loop.put(evidence)
        kept = self.loop.submit(
            Retire(now - service.config.retention_days * DAY, service.config.sessions_kept)
        )
        self.deciding = self._chore(self.loop.run(), "loop")
        waiting: list[asyncio.Future[Any]] = [kept, self.deciding]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not kept.done():
            self._raise_damage()
        elif kept.exception() is not None:
            log.error("nothing could be stored at the start: %s", kept.exception())

    async def take_down(self) -> None:
        service = self.service
        self.home.check()
        notify("STOPPING=1")
        service.broadcast.close()
        if self.serving is not None:
            await self.serving
        await self.fleet.close()
        service.mailboxes.close(for_good=True)
        for chore in self.chores:
            chore.cancel()
        service.notifier.close()
        await self.segment.close()
        self.watchdog.stop()
        for listener in self.listeners:
            listener.close()
        self.hints.close()
        self.files.close()
        if self.deciding is not None:
            self.loop.put(Awake(service.clock.now(), stopping=True))
            self.loop.stop()
            await asyncio.wait([self.deciding])
        self._raise_damage()

    def _raise_damage(self) -> None:
        if self.deciding is None or not self.deciding.done():
            return
        fault = self.deciding.exception()
        if isinstance(fault, StoreFault) and fault.kind == "corrupt":
            self.home.check()  # a new start would make a home that was removed
            raise StoreDamaged from fault

    def _chore(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)

        def ended(done: asyncio.Task[None]) -> None:
            if not done.cancelled() and (fault := done.exception()) is not None:
                self.home.ends_by(fault)
                log.critical("%s failed; headcount ends", name, exc_info=fault)
                self.server.end()

        task.add_done_callback(ended)
        return task
