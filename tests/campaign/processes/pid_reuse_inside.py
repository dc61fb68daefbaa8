"""The reuse storm itself, run as the first process of a pid namespace. See pid_reuse.py."""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict
from headcount.system.processes.linux import LinuxProcesses

PIDS = range(700, 720)
TICK = 0.01
AWAY = 0.15  # of the rounds: over a restart


class Holder:
    """The process that has the pid now: waits on a pipe until it is ended."""

    def __init__(self, pid: int) -> None:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(pid - 1))
        read, self._pipe = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._pipe)
            os.read(read, 1)
            os._exit(0)
        assert self.pid == pid, (self.pid, pid)
        os.close(read)

    def end(self, by_signal: bool) -> None:
        if by_signal:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._pipe)
        os.waitpid(self.pid, 0)


class Storm:
    def __init__(self, seed: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.told: Counter[ProcessIdentity] = Counter()
        self.living = LinuxProcesses(self.loop)

    def _on_death(self, who: ProcessIdentity, verdict: Verdict) -> None:
        self.told[who] += 1

    async def round(self) -> None:
        pid = self.chance.choice(PIDS)
        away = self.chance.random() < AWAY
        first = Holder(pid)
        watcher = LinuxProcesses(self.loop) if away else self.living
        old = _identity(watcher, pid)
        watcher.watch(old, self._on_death)
        if away:
            watcher.close()
        first.end(by_signal=self.chance.random() < 0.5)
        if self.chance.random() < 0.2:
            await asyncio.sleep(self.chance.uniform(0, 2 * TICK))
        second = Holder(pid)
        asked = LinuxProcesses(self.loop) if away else self.living
        self._judge(asked, old, pid)
        if not away:
            await self._wait_told(old)
        self.counts["mistold"] += self.told.pop(old, 0) != (0 if away else 1)
        if away:
            self.counts["away"] += 1
            asked.close()
        second.end(by_signal=False)
        self.counts["rounds"] += 1

    def _judge(self, asked: LinuxProcesses, old: ProcessIdentity, pid: int) -> None:
        new = _identity(asked, pid)
        self.counts["dead_alive"] += asked.prove(old, asked.place().machine).standing is not Standing.DEAD
        self.counts["dead_alive"] += asked.parent(old) is not None
        self.counts["living_dead"] += asked.prove(new, asked.place().machine).standing is not Standing.ALIVE
        self.counts["same_tick"] += new.started == old.started
        self.counts["pid_fooled"] += os.path.exists(f"/proc/{pid}")
        self.counts["start_fooled"] += (new.pid, new.started) == (old.pid, old.started)

    async def _wait_told(self, old: ProcessIdentity) -> None:
        deadline = time.monotonic() + 5
        while not self.told[old] and time.monotonic() < deadline:
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # a second telling would come now


def _identity(processes: LinuxProcesses, pid: int) -> ProcessIdentity:
    seen = processes.look(pid)
    assert isinstance(seen, ProcessFacts), seen
    return seen.identity


async def main(rounds: int, seed: int, seconds: float) -> None:
    storm = Storm(seed)
    began = spoke = time.monotonic()
    while storm.counts["rounds"] < rounds and time.monotonic() - began < seconds:
        await storm.round()
        if time.monotonic() - spoke > 2:
            spoke = time.monotonic()
            print(json.dumps({"at": f"pid reuse: {storm.counts['rounds']:,} of {rounds:,}"}), flush=True)
    names = (
        "rounds",
        "away",
        "same_tick",
        "dead_alive",
        "living_dead",
        "mistold",
        "pid_fooled",
        "start_fooled",
    )
    print(json.dumps({name: storm.counts[name] for name in names}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
