"""A kernel in memory: processes that start, end, are reused, denied and rebooted as a test says.

Rules of this file
  1. It keeps the same contract as the real adapters; tests/contract/test_processes.py runs on it too.
  2. Inodes are given once. Pids are given again when a test says so.
  3. A death is told on the loop of the watcher, never from inside the call that caused it. A watcher
     without a loop is told at once, for tests that have none.

Not here: real processes (spawner.py).
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from headcount import times
from headcount.core.values.process import (
    BootAndNamespace,
    Locks,
    Match,
    OpenFiles,
    ProcessFacts,
    ProcessIdentity,
    same_process,
)
from headcount.core.values.verdict import Exit, Proof, Standing, Verdict, alive, dead, judge_place, unknown
from headcount.system.processes.interface import Look, OnDeath, ProcessGone, Unreadable
from headcount.system.processes.pidfds.handle import NotHeld

NAMESPACE = 4026531836


@dataclass(slots=True)
class FakeProcess:
    facts: ProcessFacts
    environ: dict[str, str] = field(default_factory=dict)
    files: OpenFiles = ()
    ended: Exit | None = None  # a zombie when set
    denied: bool = False
    stopped: bool = False
    main_thread_gone: bool = False
    cpu: float = 0.0


class FakeKernel:
    def __init__(self, machine: str = "machine-1") -> None:
        self.machine = machine
        self.exhausted = False
        self.locks_read = 0
        self._boots = itertools.count(1)
        self._inodes = itertools.count(5001)
        self._ticks = 1000
        self._boot = f"boot-{next(self._boots)}"
        self._table: dict[int, FakeProcess] = {}
        self._watchers: list[FakeProcesses] = []

    def processes(
        self, loop: asyncio.AbstractEventLoop | None = None, namespace: int = NAMESPACE
    ) -> "FakeProcesses":
        """A watcher on this kernel. A second one is the first one's successor after a restart."""
        watcher = FakeProcesses(self, loop, BootAndNamespace(self.machine, self._boot, namespace))
        self._watchers.append(watcher)
        return watcher

    # --- what tests do to processes ---------------------------------------------------------------

    def spawn(
        self,
        comm: str = "agent",
        argv: tuple[str, ...] = (),
        parent: int = 1,
        uid: int = 1000,
        exe: str | None = None,
        cwd: str | None = None,
        environ: dict[str, str] | None = None,
        pid: int | None = None,
        ticks: int | None = None,
    ) -> ProcessIdentity:
        pid = pid or self._free_pid()
        if pid in self._table:
            raise ValueError(f"pid {pid} is taken")
        self._ticks = self._ticks + 1 if ticks is None else ticks
        identity = ProcessIdentity(self._boot, NAMESPACE, pid, self._ticks, next(self._inodes))
        facts = ProcessFacts(
            identity, parent, uid, comm, argv or (comm,), exe or f"/usr/bin/{comm}", cwd or "/"
        )
        self._table[pid] = FakeProcess(facts, dict(environ or {}))
        return identity

    def exec(self, pid: int, comm: str, argv: tuple[str, ...] = (), exe: str | None = None) -> None:
        """The same process, another program."""
        one = self._table[pid]
        one.facts = replace(one.facts, comm=comm, argv=argv or (comm,), exe=exe or f"/usr/bin/{comm}")

    def exit(self, pid: int, code: int = 0, reap: bool = True) -> None:
        self._end(pid, Exit(code=code), reap)

    def kill(self, pid: int, signal: int = 9, reap: bool = True) -> None:
        self._end(pid, Exit(signal=signal), reap)

    def reap(self, pid: int) -> None:
        if self._table[pid].ended is None:
            raise ValueError(f"{pid} still runs")
        del self._table[pid]

    def reuse(self, pid: int, comm: str = "other", same_ticks: bool = False) -> ProcessIdentity:
        """End the process that has the pid and give the pid to another, on request within the same clock tick."""
        before = self._table.get(pid)
        started = before.facts.identity.started if before else None
        if before is not None and before.ended is None:
            self.kill(pid)
        self._table.pop(pid, None)
        return self.spawn(comm=comm, pid=pid, ticks=started if same_ticks else None)

    def burn(self, pid: int, seconds: float) -> None:
        self._table[pid].cpu += seconds

    def deny(self, pid: int, denied: bool = True) -> None:
        self._table[pid].denied = denied

    def stop(self, pid: int) -> None:
        self._table[pid].stopped = True

    def end_main_thread(self, pid: int) -> None:
        self._table[pid].main_thread_gone = True

    def exhaust_descriptors(self) -> None:
        self.exhausted = True

    def free_descriptors(self) -> None:
        self.exhausted = False

    def reboot(self) -> None:
        """Every process ends without a report: the watchers were on that machine too."""
        for watcher in self._watchers:
            watcher.close()
        self._watchers.clear()
        self._table.clear()
        self._boot = f"boot-{next(self._boots)}"
        self._ticks = 1000

    # --- what the kernel answers ------------------------------------------------------------------

    def find(self, pid: int) -> FakeProcess | None:
        return self._table.get(pid)

    def pids(self) -> list[int]:
        return list(self._table)

    def _free_pid(self) -> int:
        return next(pid for pid in itertools.count(100) if pid not in self._table)

    def _end(self, pid: int, how: Exit, reap: bool) -> None:
        one = self._table[pid]
        if one.ended is not None:
            raise ValueError(f"{pid} has already ended")
        one.ended = how
        for watcher in list(self._watchers):
            watcher.on_end(one.facts.identity, how)
        for other in self._table.values():
            if other.facts.parent == pid:
                other.facts = replace(other.facts, parent=1)
        if reap:
            del self._table[pid]


class FakeProcesses:
    name = "fake"

    def __init__(
        self, kernel: FakeKernel, loop: asyncio.AbstractEventLoop | None, place: BootAndNamespace
    ) -> None:
        self._kernel = kernel
        self._loop = loop
        self._place = place
        self._on_death: dict[ProcessIdentity, OnDeath] = {}
        self._polled: set[ProcessIdentity] = set()
        self._closed = False
        self._is_polling = False

    def place(self) -> BootAndNamespace:
        return self._place

    def pids(self) -> Iterable[int]:
        return self._kernel.pids()

    def glance(self, pid: int) -> object | None:
        return None

    def look(self, pid: int) -> Look:
        one = self._kernel.find(pid)
        if one is None or one.ended is not None:
            return ProcessGone()
        if one.denied or self._kernel.exhausted:
            return Unreadable("denied" if one.denied else "no descriptor left")
        return one.facts

    def parent(self, identity: ProcessIdentity) -> int | None:
        seen = self.look(identity.pid)
        if not isinstance(seen, ProcessFacts) or same_process(seen.identity, identity) is not Match.SAME:
            return None
        return seen.parent

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        one = self._kernel.find(identity.pid)
        if one is None or one.denied or self.parent(identity) is None:
            return {}
        return {name: value for name, value in one.environ.items() if name in names}

    def cpu_time(self, identity: ProcessIdentity) -> float | None:
        one = self._kernel.find(identity.pid)
        if one is None or one.denied or self.parent(identity) is None:
            return None
        return one.cpu + sum(
            self._kernel.find(pid).cpu  # type: ignore[union-attr]
            for pid in self._kernel.pids()
            if self._kernel.find(pid).facts.parent == identity.pid  # type: ignore[union-attr]
        )

    def locks(self) -> Locks:
        self._kernel.locks_read += 1
        return {}

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        one = self._kernel.find(identity.pid)
        if one is None or one.denied or self.parent(identity) is None:
            return None
        return one.files

    def children(self, identity: ProcessIdentity) -> tuple[int, ...]:
        if self.parent(identity) is None:
            return ()
        living = (pid for pid in self._kernel.pids() if isinstance(self.look(pid), ProcessFacts))
        return tuple(pid for pid in living if self._kernel.find(pid).facts.parent == identity.pid)

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        found = {pid: self._kernel.find(pid).environ for pid in self._kernel.pids()}
        named = {pid: {k: v for k, v in environ.items() if k in names} for pid, environ in found.items()}
        return {pid: environ for pid, environ in named.items() if environ}

    def hold(self, identity: ProcessIdentity) -> NotHeld:
        return NotHeld("a kernel in memory gives no handle")

    def prove(self, identity: ProcessIdentity, remembered_machine: str) -> Verdict:
        return judge_place(identity, self._place, remembered_machine) or self._prove_here(identity)

    def watch(self, identity: ProcessIdentity, on_death: OnDeath) -> Verdict:
        elsewhere = judge_place(identity, self._place, "")
        verdict = elsewhere or self._prove_here(identity)
        if verdict.standing is Standing.DEAD:
            return verdict
        self._on_death[identity] = on_death
        if elsewhere is None and verdict.standing is Standing.UNKNOWN:
            self._polled.add(identity)
            if not self._is_polling:  # one timer for all of them
                self._is_polling = True
                self._later(self._poll)
        return verdict

    def unwatch(self, identity: ProcessIdentity) -> None:
        self._on_death.pop(identity, None)
        self._polled.discard(identity)

    def is_told(self, identity: ProcessIdentity) -> bool:
        return identity in self._on_death and identity not in self._polled

    def watched(self) -> int:
        return len(self._on_death)

    def polled(self) -> int:
        return len(self._polled)

    def make_room(self, *, none_left: bool = False) -> int:
        return 0  # a watch in memory takes no descriptor

    def is_short(self) -> bool:
        return False

    def close(self) -> None:
        self._closed = True
        self._on_death.clear()
        self._polled.clear()

    def on_end(self, ended: ProcessIdentity, how: Exit) -> None:
        """The kernel's word: each watched identity that means that process is told."""
        for identity in tuple(self._on_death):
            if identity not in self._polled and same_process(identity, ended) is Match.SAME:
                self._soon(identity, dead(Proof.EXITED, "the kernel reported its end", how))

    def poll(self) -> None:
        """One look at those that found no descriptor."""
        for identity in tuple(self._polled):
            verdict = self._prove_here(identity)
            if verdict.standing is Standing.DEAD:
                self._tell(identity, verdict)
            elif verdict.standing is Standing.ALIVE:
                self._polled.discard(identity)

    def _prove_here(self, identity: ProcessIdentity) -> Verdict:
        one = self._kernel.find(identity.pid)
        if one is None:
            return dead(Proof.EXITED, "no process has its pid any more")
        if self._kernel.exhausted:
            return unknown("no descriptor left")
        match = same_process(identity, one.facts.identity)
        if match is Match.DIFFERENT:
            return dead(Proof.REPLACED, "its pid belongs to another process")
        if one.ended is not None:
            return dead(Proof.EXITED, "the kernel reported its end", one.ended)
        return alive("it is there") if match is Match.SAME else unknown("only its pid is known")

    def _soon(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        if self._loop is None:
            self._tell(identity, verdict)
        else:
            self._loop.call_soon(self._tell, identity, verdict)

    def _tell(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        self._polled.discard(identity)
        on_death = self._on_death.pop(identity, None)
        if on_death is not None:
            on_death(identity, verdict)

    def _later(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_later(times.POLL_EVERY, call)

    def _poll(self) -> None:
        self._is_polling = False
        if not self._closed:
            self.poll()
            if self._polled:
                self._is_polling = True
                self._later(self._poll)
