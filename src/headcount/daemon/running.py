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
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from headcount import __version__
from headcount.agents.table import AGENTS
from headcount.core.evidence import Awake, Retire
from headcount.core.identity import ProcessIdentity
from headcount.core.world import World
from headcount.daemon.actor import Actors
from headcount.daemon.anchor import Anchors
from headcount.daemon.broadcast import Broadcast
from headcount.daemon.census import Census
from headcount.daemon.config import Config
from headcount.daemon.drift import Drift
from headcount.daemon.effects import Effects
from headcount.daemon.listen import Server, open_unix_socket
from headcount.daemon.loop import Loop, NotStored
from headcount.daemon.mailbox import Mailbox
from headcount.daemon.recovery import open_book, recover
from headcount.daemon.registries import Registries
from headcount.daemon.routes.table import build_app
from headcount.daemon.service import Service, find_incarnation
from headcount.daemon.tokens import Tokens
from headcount.daemon.watchdog import Watchdog
from headcount.daemon.worktrees import Worktrees
from headcount.paths import Places
from headcount.store.port import StoreFault
from headcount.store.sqlite import SqliteStore
from headcount.system.clock import Clock, SystemClock
from headcount.system.files import open_file_events
from headcount.system.notify import notify
from headcount.system.processes.features import Features
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.port import Processes
from headcount.system.processes.portable import PortableProcesses
from headcount.times import DAY, PRUNE_EVERY

log = logging.getLogger("headcount.daemon")

MEGABYTE = 1024 * 1024


async def run(places: Places, ready: Callable[[], None]) -> None:
    event_loop = asyncio.get_running_loop()
    config = Config.read(Path(places.config), os.environ)
    clock = SystemClock()
    processes = open_processes(event_loop, config)
    store = SqliteStore.open(Path(places.database), machine=processes.place().machine, now=clock.now)
    try:
        await _run(places, config, clock, processes, store, ready)
    finally:
        processes.close()
        store.close()


def open_processes(event_loop: asyncio.AbstractEventLoop, config: Config) -> Processes:
    if sys.platform == "linux" and config.processes != "portable":
        return LinuxProcesses(event_loop, Features.from_text(config.without))
    return PortableProcesses(event_loop)


async def _run(
    places: Places,
    config: Config,
    clock: Clock,
    processes: Processes,
    store: SqliteStore,
    ready: Callable[[], None],
) -> None:
    event_loop = asyncio.get_running_loop()
    world = World(
        processes.place(), store.loaded.sessions, store.loaded.seq, open_book(store.loaded, clock.now())
    )
    anchors = Anchors(processes, clock, lambda claimed: find_incarnation(world, claimed))
    broadcast = Broadcast()
    files = open_file_events(event_loop)
    loop = Loop(
        world,
        store,
        clock,
        start_effects=lambda effects: doing.start(effects),
        tell=lambda events, now: service.tell(events, now),
        prove=lambda process: processes.prove(process, world.place.machine),
    )
    tokens = Tokens(Path(places.state) / "tokens", store.tokens, processes, clock)

    def forget(process: ProcessIdentity) -> None:
        anchors.forget(process)
        tokens.withdraw(process)

    doing = Effects(processes, clock, loop.put, forget)
    drift = Drift()
    worktrees = Worktrees(clock)
    mailbox = Mailbox(
        Path(places.mailbox), AGENTS["claude-code"], loop, anchors, files, clock, drift, worktrees
    )
    server = Server(None)
    service = Service(
        places=places,
        config=config,
        clock=clock,
        processes=processes,
        store=store,
        loop=loop,
        broadcast=broadcast,
        anchors=anchors,
        mailbox=mailbox,
        registries=Registries(loop, processes, anchors, files),
        census=Census(loop, processes, anchors, clock),
        drift=drift,
        worktrees=worktrees,
        tokens=tokens,
        actors=Actors(processes, loop, clock, tokens),
        started_at=clock.now(),
        set_aside=store.loaded.set_aside,
        ask_to_stop=lambda: event_loop.call_soon(server.end),
    )
    server.config.app = build_app(service)
    for number in (signal.SIGTERM, signal.SIGINT):
        event_loop.add_signal_handler(number, server.end)

    chores = [_chore(loop.run(), "loop", server)]
    for evidence in recover(world, store.loaded, processes, doing.died, clock.now()):
        loop.put(evidence)
    await loop.ask(Retire(clock.now() - config.retention_days * DAY, config.sessions_kept))

    await tokens.open()
    watchdog = Watchdog(
        event_loop, Path(places.log).with_name("stacks.txt"), on_alive=lambda: notify("WATCHDOG=1")
    )
    watchdog.start()
    mailbox.open()
    for agent in AGENTS.values():
        service.registries.open(agent, os.environ, Path.home(), config.claude_roots)
    sock = open_unix_socket(Path(places.socket))
    chores += [
        _chore(mailbox.run(), "mailbox", server),
        _chore(service.census.run(), "census", server),
        _chore(_prune(service), "prune", server),
    ]
    serving = asyncio.create_task(server._serve(sockets=[sock]))
    ready()
    notify(f"READY=1\nSTATUS=headcount {__version__}, {len(world.sessions)} sessions remembered")
    log.info(
        "headcount %s is up: %s adapter, %d sessions remembered",
        __version__,
        processes.name,
        len(world.sessions),
    )
    await server.ended()
    notify("STOPPING=1")
    broadcast.close()
    await serving
    mailbox.close(for_good=True)
    for chore in chores[1:]:
        chore.cancel()
    loop.put(Awake(clock.now(), stopping=True))
    loop.stop()
    await asyncio.wait(chores[:1])
    watchdog.stop()
    files.close()
    Path(places.socket).unlink(missing_ok=True)


def _chore(work: Coroutine[Any, Any, None], name: str, server: Server) -> asyncio.Task[None]:
    task = asyncio.create_task(work, name=name)

    def ended(done: asyncio.Task[None]) -> None:
        if not done.cancelled() and done.exception() is not None:
            log.critical("%s failed; headcount ends", name, exc_info=done.exception())
            server.end()

    task.add_done_callback(ended)
    return task


async def _prune(service: Service) -> None:
    while True:
        await asyncio.sleep(PRUNE_EVERY)
        before = service.clock.now() - service.config.retention_days * DAY
        try:
            await service.loop.ask(Retire(before, service.config.sessions_kept))
            await service.store.prune(before=before, max_bytes=int(service.config.store_max_mb * MEGABYTE))
            await service.tokens.tidy()
        except (NotStored, StoreFault) as fault:
            log.warning("old events could not be pruned: %s", fault)
