"""A day of virtual time over sessions that say nothing. See long_idle.py.

    python -m tests.campaign.daemon.long_idle_inside HOURS SESSIONS SEED SECONDS HOME

Rules of this file
  1. The daemon is the real one, put together as its main does: loop, store, mailbox, census, recovery. Only the kernel's
     processes and time are made up.
  2. A live session must be open at every check. `unknown` is allowed while there is reason for doubt, not at the end.
"""

import asyncio
import json
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from headcount.core.values.claim import Acquire, Caller
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Liveness, Session
from headcount.daemon.composition import RunningDaemon
from headcount.daemon.config import Config
from headcount.paths import Places
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from headcount.store.sqlite.writer import Write
from headcount.system.files import IN_Q_OVERFLOW, FileEvent
from tests.rig.kernel.fake_kernel import FakeKernel, FakeProcesses
from tests.rig.kernel.virtual_time import VirtualClock, VirtualLoop

HOUR = 3_600.0
SILENT_AFTER = 180.0  # what the naive rule waits for
WALL = 1_790_000_000.0
UP = 500_000.0
HOLDERS = 4  # one session in so many holds a claim
OPEN = (Liveness.ALIVE, Liveness.DOUBTED)


class Day:
    def __init__(self, home: Path, sessions: int, seed: int, loop: VirtualLoop) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self.silent: set[str] = set()
        self._loop = loop
        self._chance = random.Random(seed)
        self._places = Places.below(str(home))
        self._places.make()
        self._kernel = FakeKernel()
        self._clock = VirtualClock(loop, WALL, UP)
        self._failing = False
        self._serial = 0
        self._living = [self._spawn(nth) for nth in range(sessions)]
        self._names = {each: f"idle-{each.pid}" for each in self._living}
        self._fences: dict[str, int] = {}
        self._dying: list[ProcessIdentity] = []
        self._next: list[str] = []
        self._faults: dict[str, Callable[[], Awaitable[None]]] = {
            "restarts in order": self._restart,
            "kills": self._kill,
            "failed commits": self._failed_commits,
            "overflows of inotify": self._overflow,
            "censuses that missed": self._blind_census,
            "processes not to be read": self._denied,
            "no descriptor left": self._exhausted,
            "stalls": self._stall,
            "suspends": self._suspend,
            "clocks set": self._set_clock,
        }

    # --- its daemon --------------------------------------------------------------------------------

    async def _up(self) -> None:
        self._processes = self._kernel.processes(self._loop)
        machine = self._processes.place().machine
        self._store = SqliteStore.open(Path(self._places.database), machine=machine, now=self._clock.now)
        self._count_writes(self._store)
        self._running = RunningDaemon(self._places, Config(), self._clock, self._processes, self._store)
        await self._running.start()

    def _count_writes(self, store: SqliteStore) -> None:
        """A commit is work outside the loop; while it is to fail, it does."""
        ask: Any = store._writer._ask

        async def counted(work: Any) -> Any:
            if self._failing and isinstance(work, Write):
                raise StoreFault("full", "no room: this is a test")
            self._loop.outside += 1
            try:
                return await ask(work)
            finally:
                self._loop.outside -= 1

        store._writer._ask = counted  # type: ignore[method-assign]

    async def _down(self, *, in_order: bool) -> None:
        running = self._running
        running.server.end()
        if in_order:
            await running.stop()
        else:  # as a kill: nothing more is written
            if running.deciding is not None:
                running.deciding.cancel()
            await running.stop()
        self._processes.close()
        self._store.close()

    # --- agents ------------------------------------------------------------------------------------

    def _spawn(self, nth: int) -> ProcessIdentity:
        return self._kernel.spawn(
            "claude", exe="/usr/local/bin/claude", uid=os.getuid(), pid=2_000 + nth, cwd="/"
        )

    def _drop(self, process: ProcessIdentity, event: str, **fields: str) -> None:
        self._serial += 1
        stat = f"{process.pid} (claude) S 1" + " 0" * 17 + f" {process.started}" + " 0" * 30
        body = {"session_id": f"idle-{process.pid}", "hook_event_name": event, "cwd": "/", **fields}
        path = Path(self._places.mailbox) / f"{process.pid}.{self._serial}"
        with path.open("w") as file:
            file.write(f"{stat}\n{json.dumps(body)}")
            file.flush()
            os.utime(file.fileno(), (self._clock.now(), self._clock.now()))

    async def begin(self) -> None:
        await self._up()
        for process in self._living:
            self._drop(process, "SessionStart", source="startup")
            self._drop(process, "Stop")
        await self._until(lambda: len(self._open()) == len(self._living))
        for nth, process in enumerate(self._living[::HOLDERS]):
            asks = Acquire(Item(f"task:{nth}"), Caller(process, self._of(process)[0].id), f"request-{nth}")
            answer = await self._running.loop.command(asks)
            self._fences[f"task:{nth}"] = answer.claim.fence  # type: ignore[union-attr]

    async def _until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(10_000):
            if is_so():
                return
            await asyncio.sleep(0.5)
        raise AssertionError("it never became so")

    def _of(self, process: ProcessIdentity) -> list[Session]:
        world = self._running.loop.world
        return [each for each in world.sessions.values() if each.process == process and each.is_open]

    def _open(self) -> list[ProcessIdentity]:
        bound = {each.process for each in self._running.loop.world.sessions.values() if each.liveness in OPEN}
        return [each for each in self._living if each in bound]

    # --- faults ------------------------------------------------------------------------------------

    async def fault(self) -> None:
        if not self._next:  # every kind once, then all again in another order
            self._next = self._chance.sample(list(self._faults), len(self._faults))
        name = self._next.pop()
        self.counts[name] += 1
        self.counts["faults"] += 1
        await self._faults[name]()
        if self._chance.random() < 0.2:
            self._end_one()

    def _end_one(self) -> None:
        """Some sessions really end: otherwise a daemon that reports no deaths would pass."""
        process = self._spawn(10_000 + self.counts["deaths"])
        self._drop(process, "SessionStart", source="startup")
        self._dying.append(process)
        self.counts["deaths"] += 1

    async def _restart(self) -> None:
        await self._down(in_order=True)
        self._kill_the_dying()
        await self._up()

    async def _kill(self) -> None:
        await self._down(in_order=False)
        self._kill_the_dying()
        await self._up()

    def _kill_the_dying(self) -> None:
        for process in self._dying:
            if self._kernel.find(process.pid) is not None:
                self._kernel.kill(process.pid)

    async def _failed_commits(self) -> None:
        self._failing = True
        self._drop(self._chance.choice(self._living), "Stop")
        self._kill_the_dying()
        await asyncio.sleep(self._chance.uniform(10, 1_200))
        self._failing = False

    async def _overflow(self) -> None:
        (mailbox, *_) = self._running.components.mailboxes._open
        mailbox._end_watch()
        self._drop(self._chance.choice(self._living), "Stop")
        mailbox.open()
        mailbox._arrived([FileEvent(None, IN_Q_OVERFLOW)])

    async def _blind_census(self) -> None:
        seen = FakeProcesses.pids
        share, fails = self._chance.random(), self._chance.random() < 0.3

        def some(watcher: FakeProcesses) -> list[int]:
            if fails:
                raise OSError(24, "Too many open files")
            return [pid for pid in seen(watcher) if self._chance.random() < share]

        FakeProcesses.pids = some  # type: ignore[method-assign]
        await asyncio.sleep(200)
        FakeProcesses.pids = seen  # type: ignore[method-assign]

    async def _denied(self) -> None:
        hidden = self._chance.sample(self._living, len(self._living) // 3)
        for process in hidden:
            self._kernel.deny(process.pid)
        if self._chance.random() < 0.5:
            await self._kill()
        await asyncio.sleep(300)
        for process in hidden:
            self._kernel.deny(process.pid, False)

    async def _exhausted(self) -> None:
        self._kernel.exhaust_descriptors()
        if self._chance.random() < 0.5:
            await self._kill()
        await asyncio.sleep(300)
        self._kernel.free_descriptors()

    async def _stall(self) -> None:
        self._loop.skip(self._chance.uniform(60, 1_800))

    async def _suspend(self) -> None:
        asleep = self._chance.uniform(600, 2 * HOUR)
        self._clock.slept += asleep
        self.counts["asleep"] += int(asleep)

    async def _set_clock(self) -> None:
        self._clock.set_by = self._chance.choice((0.0, HOUR, -HOUR, 24 * HOUR, -24 * HOUR))

    # --- looking -----------------------------------------------------------------------------------

    def judge(self) -> None:
        world = self._running.loop.world
        rows = {each.process: each for each in world.sessions.values() if each.is_open}
        for process in self._living:
            row = rows.get(process)
            self.counts["looks"] += 1
            if row is None or row.liveness not in OPEN or row.conversation != self._names[process]:
                self.counts["evicted"] += 1
                self.examples.append(f"{self._names[process]} is {None if row is None else row.liveness}")
            elif self._clock.now() - row.last_event_at > SILENT_AFTER:
                self.silent.add(self._names[process])
        held = {claim.item: claim for claim in world.book.holding()}
        for item, fence in self._fences.items():
            claim = held.get(Item(item))
            self.counts["freed"] += claim is None or claim.fence != fence

    async def end(self) -> None:
        """All faults are over: doubt must be, too, and the dead found."""
        self._kill_the_dying()
        await asyncio.sleep(300)
        self.judge()
        for process in self._living:
            rows = self._of(process)
            self.counts["doubted"] += not rows or rows[0].liveness is not Liveness.ALIVE
        known = {each.process for each in self._running.loop.world.sessions.values() if each.is_open}
        self.counts["dead_alive"] += sum(process in known for process in self._dying)
        await self._down(in_order=True)


async def live(home: Path, hours: float, sessions: int, seed: int, seconds: float) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    day = Day(home, sessions, seed, loop)
    chance, began = random.Random(seed + 1), time.monotonic()
    await day.begin()
    while loop.time() < hours * HOUR and time.monotonic() - began < seconds:
        await asyncio.sleep(chance.uniform(30, 600))
        day.judge()
        await day.fault()
        day.judge()
        at = f"long idle: {loop.time() / HOUR:.1f} of {hours:g} hours, {day.counts['faults']} faults"
        print(json.dumps({"at": at}), flush=True)
    await day.end()
    return {
        "hours": loop.time() / HOUR,
        "silent": len(day.silent),
        "counts": day.counts,
        "examples": day.examples[:5],
    }


def main(hours: float, sessions: int, seed: int, seconds: float, home: Path) -> None:
    logging.basicConfig(filename=home / "idle.log", level=logging.WARNING)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        found = runner.run(live(home, hours, sessions, seed, seconds))
    print(json.dumps(found), flush=True)
    os._exit(0)  # threads that wait for real time would be waited for


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), Path(sys.argv[5]))
