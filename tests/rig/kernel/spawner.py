"""Stand-ins: real processes in every state that matters, made on demand.

Rules of this file
  1. A stand-in waits until it is told how to end; it never ends by a timer.
  2. It is signalled only through a pidfd that was opened while its parent held it unreaped.
  3. Everything is over after `Spawner.close`, whatever the test did to it: at the end of its input a
     stand-in exits by itself.

Not here: processes in memory (fake_kernel.py).
"""

import os
import platform
import select
import signal
import subprocess
import sys
from dataclasses import dataclass, field

PYTHON = (sys.executable, "-I", "-S", "-c")

CHILD = """
import os
print(os.getpid(), flush=True)
told = os.read(0, 1)
os._exit(told[0] if told else 0)
"""

# A keeper is the parent of the stand-in, so that the stand-in is not the test's own child.
KEEPER = """
import os, signal, sys
child = os.fork()
if child == 0:
    told = os.read(0, 1)
    os._exit(told[0] if told else 0)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print(child, flush=True)
if sys.argv[1] == "neglects":
    signal.sigwait([signal.SIGUSR1])
os.waitpid(child, 0)
print("reaped", flush=True)
while True:
    signal.pause()
"""

# The middle forks the stand-in and ends: the stand-in is re-parented.
ORPHANER = """
import os
middle = os.fork()
if middle == 0:
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        told = os.read(0, 1)
        os._exit(told[0] if told else 0)
    os._exit(0)
os.waitpid(middle, 0)
"""

MAIN_THREAD_GONE = """
import ctypes, os, sys, threading
def live_on():
    told = os.read(0, 1)
    os._exit(told[0] if told else 0)
threading.Thread(target=live_on).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).syscall(int(sys.argv[1]), 0)
"""

CHAIN = """
import os, sys
depth = int(sys.argv[1])
pids = [os.getpid()]
while len(pids) < depth and os.fork() == 0:
    pids.append(os.getpid())
if len(pids) == depth:
    print(*pids, flush=True)
    os.read(0, 1)
    os._exit(0)
try:
    os.wait()
finally:
    os._exit(0)
"""

SYS_EXIT = {"x86_64": 60, "aarch64": 93}


@dataclass(slots=True)
class StandIn:
    pid: int
    pidfd: int
    stdin: int
    keeper: subprocess.Popen[bytes] | None = None
    own_child: subprocess.Popen[bytes] | None = None
    extra: tuple[int, ...] = field(default=())

    def end(self, code: int) -> None:
        """It exits with that code (1 to 255, or 0)."""
        os.write(self.stdin, bytes([code]))

    def signal(self, number: int) -> None:
        signal.pidfd_send_signal(self.pidfd, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def has_ended(self) -> bool:
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def wait_ended(self, within: float = 10.0) -> None:
        if not select.select([self.pidfd], [], [], within)[0]:
            raise TimeoutError(f"stand-in {self.pid} did not end")

    def wait_reaped(self) -> None:
        """Ended, and not even a zombie is left."""
        self.wait_ended()
        if self.own_child is not None:
            self.own_child.wait()
        if self.keeper is not None:
            assert self.keeper.stdout is not None
            line = self.keeper.stdout.readline()
            assert line == b"reaped\n", line

    def let_reap(self) -> None:
        """A neglectful keeper now waits for its child."""
        assert self.keeper is not None
        self.keeper.send_signal(signal.SIGUSR1)
        self.wait_reaped()


class Spawner:
    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._stand_ins: list[StandIn] = []

    def __enter__(self) -> "Spawner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def child(self, *, env: dict[str, str] | None = None, cwd: str | None = None) -> StandIn:
        """A child of the test itself; reaped by `wait_reaped`."""
        child = self._start((*PYTHON, CHILD), env=env, cwd=cwd)
        return self._keep(child, _first_number(child), own_child=child)

    def stranger(self) -> StandIn:
        """Not our child; reaped at once by its own parent."""
        return self._kept("reaps")

    def neglected(self) -> StandIn:
        """Not our child; after its end a zombie, until `let_reap`."""
        return self._kept("neglects")

    def orphan(self) -> StandIn:
        """Its parent ended before it: it belongs to init or the nearest reaper."""
        launcher = self._start((*PYTHON, ORPHANER))
        stand_in = self._keep(launcher, _first_number(launcher))
        launcher.wait()
        return stand_in

    def main_thread_gone(self) -> StandIn:
        """Alive in a second thread, while its stat line says Z."""
        number = str(SYS_EXIT[platform.machine()])
        child = self._start((*PYTHON, MAIN_THREAD_GONE, number))
        stand_in = self._keep(child, _first_number(child), own_child=child)
        _wait_for_state(child.pid, "Z")
        return stand_in

    def stopped(self) -> StandIn:
        stand_in = self.child()
        stand_in.signal(signal.SIGSTOP)
        _wait_for_state(stand_in.pid, "T")
        return stand_in

    def named(self, name: str) -> StandIn:
        """With that name in its stat line: anything up to 15 bytes, also spaces and parentheses."""
        script = f"open('/proc/self/comm', 'wb').write({name.encode()!r})"
        child = self._start((*PYTHON, script + CHILD))
        return self._keep(child, _first_number(child), own_child=child)

    def chain(self, depth: int) -> StandIn:
        """A line of processes, each the parent of the next; `extra` are their pids, the last is the stand-in."""
        top = self._start((*PYTHON, CHAIN, str(depth)))
        assert top.stdout is not None
        pids = tuple(int(word) for word in top.stdout.readline().split())
        stand_in = self._keep(top, pids[-1])
        stand_in.extra = pids
        return stand_in

    def close(self) -> None:
        for stand_in in self._stand_ins:
            if not stand_in.has_ended():
                stand_in.kill()
            os.close(stand_in.pidfd)
        for child in self._children:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
            child.kill()
            child.wait()
        self._stand_ins.clear()
        self._children.clear()

    def _kept(self, manner: str) -> StandIn:
        keeper = self._start((*PYTHON, KEEPER, manner))
        return self._keep(keeper, _first_number(keeper), keeper=keeper)

    def _start(
        self, argv: tuple[str, ...], env: dict[str, str] | None = None, cwd: str | None = None
    ) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=cwd, bufsize=0
        )
        self._children.append(child)
        return child

    def _keep(
        self,
        started: subprocess.Popen[bytes],
        pid: int,
        keeper: subprocess.Popen[bytes] | None = None,
        own_child: subprocess.Popen[bytes] | None = None,
    ) -> StandIn:
        assert started.stdin is not None
        stand_in = StandIn(pid, os.pidfd_open(pid), started.stdin.fileno(), keeper, own_child)
        self._stand_ins.append(stand_in)
        return stand_in


def state_of(pid: int) -> str:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0].decode()


def _first_number(started: subprocess.Popen[bytes]) -> int:
    assert started.stdout is not None
    return int(started.stdout.readline())


def _wait_for_state(pid: int, wanted: str) -> None:
    for _ in range(10_000):
        if state_of(pid) == wanted:
            return
        select.select([], [], [], 0.001)
    raise TimeoutError(f"{pid} is in state {state_of(pid)}, not {wanted}")
