"""Two worlds with one face, so that one contract suite runs on real processes and on the fake kernel.

Rules of this file
  1. A guarantee that a variant does not have is written down here, not skipped in silence.

Not here: the contract (tests/contract/test_processes.py).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features
from headcount.system.processes.portable import PortableProcesses
from tests.rig.kernel.fake_kernel import FakeKernel
from tests.rig.kernel.spawner import Spawner


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What a variant promises beyond the contract that all keep."""

    told_by_kernel: bool = True  # a death is an event, not found by looking
    exit_of_zombies: bool = True  # exit code or signal of a process that is not reaped yet
    exit_of_reaped: bool = True  # and of what somebody has
    absence_is_proof: bool = True  # "no process has that pid" needs no second look
    inode: bool = True  # two with one pid and one start tick are told apart


class Actor(Protocol):
    @property
    def pid(self) -> int: ...

    def end(self, code: int) -> None: ...

    def kill(self) -> None: ...

    def wait_ended(self) -> None: ...

    def wait_reaped(self) -> None: ...


class World(Protocol):
    guarantees: Guarantees

    def adapter(self) -> Processes: ...

    def child(self) -> Actor: ...

    def stranger(self) -> Actor: ...

    def neglected(self) -> Actor: ...

    def orphan(self) -> Actor: ...

    def main_thread_gone(self) -> Actor: ...

    def stopped(self) -> Actor: ...

    def chain(self, depth: int) -> tuple[int, ...]: ...

    def close(self) -> None: ...


class RealWorld:
    def __init__(self, make: Callable[[], Processes], guarantees: Guarantees) -> None:
        self.guarantees = guarantees
        self._make = make
        self._spawner = Spawner()
        self._adapters: list[Processes] = []
        self.child = self._spawner.child
        self.stranger = self._spawner.stranger
        self.neglected = self._spawner.neglected
        self.orphan = self._spawner.orphan
        self.main_thread_gone = self._spawner.main_thread_gone
        self.stopped = self._spawner.stopped

    def adapter(self) -> Processes:
        self._adapters.append(self._make())
        return self._adapters[-1]

    def chain(self, depth: int) -> tuple[int, ...]:
        return self._spawner.chain(depth).extra

    def close(self) -> None:
        for adapter in self._adapters:
            adapter.close()
        self._spawner.close()


@dataclass(slots=True)
class FakeActor:
    kernel: FakeKernel
    pid: int
    reaped: bool = True

    def end(self, code: int) -> None:
        self.kernel.exit(self.pid, code, reap=self.reaped)

    def kill(self) -> None:
        self.kernel.kill(self.pid, 9, reap=self.reaped)

    def wait_ended(self) -> None:
        pass

    def wait_reaped(self) -> None:
        if self.kernel.find(self.pid) is not None:
            self.kernel.reap(self.pid)


class FakeWorld:
    guarantees = Guarantees()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.kernel = FakeKernel()
        self._loop = loop

    def adapter(self) -> Processes:
        return self.kernel.processes(self._loop)

    def child(self) -> FakeActor:
        return FakeActor(self.kernel, self.kernel.spawn(comm="python3").pid, reaped=False)

    def stranger(self) -> FakeActor:
        return FakeActor(self.kernel, self.kernel.spawn(comm="python3").pid)

    def neglected(self) -> FakeActor:
        return self.child()

    def orphan(self) -> FakeActor:
        return self.stranger()

    def main_thread_gone(self) -> FakeActor:
        made = self.child()
        self.kernel.end_main_thread(made.pid)
        return made

    def stopped(self) -> FakeActor:
        made = self.child()
        self.kernel.stop(made.pid)
        return made

    def chain(self, depth: int) -> tuple[int, ...]:
        pids: list[int] = []
        for _ in range(depth):
            pids.append(self.kernel.spawn(parent=pids[-1] if pids else 1).pid)
        return tuple(pids)

    def close(self) -> None:
        pass


PORTABLE = Guarantees(
    told_by_kernel=False, exit_of_zombies=False, exit_of_reaped=False, absence_is_proof=False, inode=False
)

WORLDS: dict[str, Callable[[asyncio.AbstractEventLoop], World]] = {
    "linux": lambda loop: _linux(loop, Guarantees()),
    "linux without inode": lambda loop: _linux(loop, Guarantees(inode=False), "inode"),
    "linux without exit_info": lambda loop: _linux(loop, Guarantees(exit_of_reaped=False), "exit_info"),
    "portable": lambda loop: RealWorld(lambda: PortableProcesses(loop), PORTABLE),
    "fake": FakeWorld,
}


def _linux(loop: asyncio.AbstractEventLoop, guarantees: Guarantees, *without: str) -> World:
    return RealWorld(lambda: LinuxProcesses(loop, Features.without(*without)), guarantees)
