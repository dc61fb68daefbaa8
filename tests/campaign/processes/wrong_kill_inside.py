"""The storm of signals itself, run as the first process of a pid namespace. See wrong_kill.py.

Rules of this file
  1. Every round wants one process ended and gives its number to an innocent one at a moment of chance: before the
     check, between check and signal, or during the grace period. An innocent that is signalled says so.
  2. Ours is the daemon's own `Endings`, with its moments made reachable by wrapping what it calls. The naive way
     runs on the same numbers: look whether the pid is the same process, then os.kill.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headcount.core.state.world import World
from headcount.core.values.process import BootAndNamespace, ProcessFacts, ProcessIdentity
from headcount.daemon.ending import signal_process
from headcount.daemon.ending.signal_process import EndTarget, ProcessEnder, Wish
from headcount.system.clock import SystemClock
from headcount.system.processes.linux import LinuxProcesses

PIDS = range(700, 720)
MOMENTS = ("before the check", "between check and signal", "during the grace period", "never")
TOLD = b"!"


class Holder:
    """The process that has the pid now. It ends when its pipe closes, and writes a byte for each SIGTERM it gets."""

    def __init__(self, pid: int, traps: bool) -> None:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(pid - 1))
        read, self._pipe = os.pipe()
        self.told, write = os.pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._pipe)
            heard: Callable[..., Any] = lambda *_: os.write(write, TOLD) and (traps or os._exit(0))  # noqa: E731
            signal.signal(signal.SIGTERM, heard)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            while True:
                try:
                    os.read(read, 1)
                    os._exit(0)
                except InterruptedError:
                    continue
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        assert self.pid == pid, (self.pid, pid)
        os.close(read)
        os.close(write)
        os.set_blocking(self.told, False)

    def end(self) -> int:
        """Ends it and returns how many signals it got; one that was killed counts as one."""
        os.close(self._pipe)
        _, status = os.waitpid(self.pid, 0)
        heard = len(os.read(self.told, 100) if self._has_word() else b"")
        os.close(self.told)
        return heard + (os.WIFSIGNALED(status))

    def _has_word(self) -> bool:
        import select

        return bool(select.select([self.told], [], [], 0)[0])


class NoLoop:
    """The journal's place: every intent is stored at once, or, for the storm, at the moment it names."""

    def __init__(self, place: BootAndNamespace) -> None:
        self.counts: Counter[str] = Counter()
        self.then: Callable[[], None] = lambda: None
        self.world = World(place)

    async def keep(self, evidence: Any) -> None:
        await self.submit(evidence)

    def submit(self, evidence: Any) -> "asyncio.Future[None]":
        done = asyncio.get_running_loop().create_future()
        if not evidence.finished:
            self.then()
        done.set_result(None)
        return done


class Storm:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.processes = LinuxProcesses(asyncio.get_running_loop())
        self.journal = NoLoop(self.processes.place())
        self.endings = ProcessEnder(self.processes, self.journal, SystemClock())  # type: ignore[arg-type]

    def _identity(self, pid: int) -> ProcessIdentity:
        seen = self.processes.look(pid)
        assert isinstance(seen, ProcessFacts), seen
        return seen.identity

    async def round(self) -> None:
        pid = self.chance.choice(PIDS)
        moment = self.chance.choice(MOMENTS)
        self.counts[moment] += 1
        naive = self.chance.random() < 0.25
        await (self._naive if naive else self._ours)(pid, moment)

    async def _ours(self, pid: int, moment: str) -> None:
        traps = moment == "during the grace period"
        first = Holder(pid, traps)
        old = self._identity(pid)
        innocent: list[Holder] = []

        def reuse() -> None:
            first.end()
            innocent.append(Holder(pid, True))

        if moment == "before the check":
            reuse()
        self.journal.then = reuse if moment == "between check and signal" else lambda: None
        wish = Wish("reap", "operator", kill_after=0.004 if traps or self.chance.random() < 0.3 else None)
        ended = asyncio.ensure_future(self.endings.end([EndTarget(old, "x")], wish))
        if traps:
            await asyncio.sleep(self.chance.uniform(0, 0.004))
            if not self.processes_dead(old):
                reuse()
        (result,) = await ended
        if innocent:
            self.counts["wrong"] += innocent[0].end()
            self.counts["reused"] += 1
        else:
            self.counts["right"] += first.end() > 0
            self.counts["missed"] += not result.is_over
        self.counts["ours"] += 1

    def processes_dead(self, identity: ProcessIdentity) -> bool:
        from headcount.core.values.verdict import Standing

        return self.processes.prove(identity, self.processes.place().machine).standing is Standing.DEAD

    async def _naive(self, pid: int, moment: str) -> None:
        """Check, then os.kill; after the grace period os.kill again, by the number."""
        traps = moment == "during the grace period"
        first = Holder(pid, traps)
        old = self._identity(pid)
        if moment == "before the check":
            first.end()
            first = Holder(pid, True)
        checked = self._identity(pid) == old
        if moment == "between check and signal":
            first.end()
            first = Holder(pid, True)
        if checked:
            os.kill(pid, signal.SIGTERM)
        if traps:
            first.end()
            first = Holder(pid, True)
            os.kill(pid, signal.SIGKILL)
        if moment in ("between check and signal", "during the grace period"):
            await asyncio.sleep(0.001)
            self.counts["naive_wrong"] += first.end() > 0
        else:
            first.end()
        self.counts["naive"] += 1


async def main(rounds: int, seed: int, seconds: float) -> None:
    assert signal_process.END_WITHIN > 0
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    await asyncio.to_thread(int)  # a thread has a number too: it is given before the storm needs its own
    storm = Storm(seed)
    began = spoke = time.monotonic()
    while storm.counts["ours"] < rounds and time.monotonic() - began < seconds:
        await storm.round()
        if time.monotonic() - spoke > 2:
            spoke = time.monotonic()
            print(json.dumps({"at": f"wrong kill: {storm.counts['ours']:,} of {rounds:,}"}), flush=True)
    names = ("ours", "reused", "right", "wrong", "missed", "naive", "naive_wrong", *MOMENTS)
    print(json.dumps({name: storm.counts[name] for name in names}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
