"""Process handles: an identity pinned by an open pidfd. Nothing is signalled through anything else.

`ProcessHandle` is the pinned process. `Pinning` opens the pidfd of a remembered process, or says why there is
none.

Rules
  1. A handle was verified to be that incarnation when it was made, and stays it: a pidfd never becomes
     another process.
  2. It waits for the end on the same descriptor that is signalled, for one caller at a time. So a process
     that was signalled can be waited for even when no descriptor is left.
  3. It must be closed.
  4. A process is pinned by its pid and compared afterwards: by the pidfd's inode, which is unique per boot,
     or by the start where a kernel has no such inodes.
  5. Dead means: no process has its pid, another process has it, or the process that has it ended. If the
     remembered process were alive, the pid would be its own.

Not here: making handles and asking whether the pinned process lives (processes/linux.py), sending signals
(system/send_signal.py), other boots and namespaces (core/values/verdict.py).
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from headcount.core.values.process import BootAndNamespace, Match, ProcessIdentity, same_process
from headcount.core.values.verdict import Exit, Proof, Verdict, dead, unknown
from headcount.system.processes import procfs
from headcount.system.processes.pidfds import calls
from headcount.system.processes.pidfds.kernel_features import Features
from headcount.system.processes.procfs import ProcessGone, Unreadable

STOPPED = frozenset("Tt")


class NotHeld(Struct, frozen=True):
    """There is no handle, and so no signal."""

    why: str
    over: bool = False  # that process has ended


class ProcessHandle(Struct):
    identity: ProcessIdentity
    uid: int
    pidfd: int | None
    exit_info: bool = False

    @property
    def pid(self) -> int:
        return self.identity.pid

    @contextmanager
    def closing(self) -> Iterator["ProcessHandle"]:
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None

    def has_ended(self) -> bool:
        return self.pidfd is None or calls.has_ended(self.pidfd)

    def is_stopped(self) -> bool:
        """Whether it is stopped by a signal or a tracer; False if unreadable."""
        try:
            with procfs.open_directory(self.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return False
        return stat is not None and stat.state in STOPPED and not self.has_ended()

    def how(self) -> Exit:
        """How it ended, as far as the kernel still knows."""
        if self.pidfd is None:
            return Exit()
        return calls.read_exit(self.pidfd, self.pid, self.identity.started, self.exit_info)

    async def wait_ended(self, within: float) -> bool:
        """Whether it ended within that time."""
        if self.has_ended():
            return True
        assert self.pidfd is not None
        loop = asyncio.get_running_loop()
        own = self.pidfd
        ended = asyncio.Event()

        def readable() -> None:
            loop.remove_reader(own)  # first: it stays readable for ever
            ended.set()

        loop.add_reader(own, readable)
        try:
            async with asyncio.timeout(within):
                await ended.wait()
        except TimeoutError:
            return self.has_ended()
        finally:
            loop.remove_reader(own)
        return True


class Pinning:
    def __init__(self, place: BootAndNamespace, features: Features, *, proc_is_ours: bool = True) -> None:
        self._place = place
        self._features = features
        self._proc_is_ours = proc_is_ours

    def identity_of(self, pid: int, pinned: int, started: int | None) -> ProcessIdentity:
        inode = calls.inode_of(pinned) if self._features.inode else None
        return ProcessIdentity(self._place.boot, self._place.namespace, pid, started, inode)

    def pin(self, identity: ProcessIdentity) -> int | Verdict:
        """The pidfd is the caller's to close. A verdict is DEAD or UNKNOWN."""
        pinned = calls.open_pidfd(identity.pid)
        if isinstance(pinned, ProcessGone):
            return dead(Proof.EXITED, "no process has its pid any more")
        if isinstance(pinned, Unreadable):
            return unknown(pinned.why, "unreadable")
        match = same_process(identity, self.identity_of(identity.pid, pinned, self._ticks(identity, pinned)))
        if match is Match.SAME:
            return pinned
        ended = calls.has_ended(pinned)
        os.close(pinned)
        if match is Match.DIFFERENT:
            return dead(Proof.REPLACED, "its pid belongs to another process")
        if ended:
            return dead(Proof.EXITED, "whoever last had its pid is over")
        return unknown("nothing but its pid can be compared", "no-start")

    def _ticks(self, identity: ProcessIdentity, pinned: int) -> int | None:
        """The start of the pinned process. Not read where inodes decide, nor where /proc shows another pid namespace;
        not used once the process is reaped, because the pid may already be another's."""
        if not self._proc_is_ours or (self._features.inode and identity.inode is not None):
            return None
        try:
            with procfs.open_directory(identity.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return None
        if stat is None or (calls.has_ended(pinned) and calls.is_reaped(pinned)):
            return None
        return stat.started
