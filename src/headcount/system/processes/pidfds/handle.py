"""A process handle: an identity pinned by an open pidfd. The only thing through which anything is signalled.

Pinning a remembered process: a pidfd of that very incarnation, or the reason why there is none.

Rules
  1. It was verified to be that incarnation when it was made, and stays it: a pidfd never becomes another
     process.
  2. Waiting for the end is on the same descriptor that is signalled, by one at a time. It needs no other:
     whoever was signalled can be waited for also when no descriptor is left.
  3. It must be closed.
  4. By its handle first: it opens that process or nothing. Then by its pid, compared afterwards.
  5. Dead is a number that nothing has, a number that another has, or a number whose owner has ended: were the
     remembered one alive, the number would be its own.
  6. A stale handle against a living match is a contradiction, and the living one is believed.

Not here: making one (linux.py), sending through it (system/signals.py); whether the pinned process lives
  (linux.py asks its pidfd), other places (core/values/verdict.py).
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from headcount.core.values.process import Match, Place, ProcessIdentity, same_process
from headcount.core.values.verdict import Exit, Proof, Standing, Verdict, dead, unknown
from headcount.system.processes import handle, procfs
from headcount.system.processes.interface import Gone, Unreadable
from headcount.system.processes.pidfds import calls
from headcount.system.processes.pidfds import calls as pidfds
from headcount.system.processes.pidfds.kernel_features import Features

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
        return self.pidfd is None or pidfds.has_ended(self.pidfd)

    def is_stopped(self) -> bool:
        """Stopped by a signal or a tracer; what cannot be read is not."""
        try:
            with procfs.open_directory(self.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return False
        return stat is not None and stat.state in STOPPED and not self.has_ended()

    def how(self) -> Exit:
        """How it ended, as far as the kernel still says."""
        if self.pidfd is None:
            return Exit()
        return calls.read_exit(self.pidfd, self.pid, self.identity.started, self.exit_info)

    async def wait_ended(self, within: float) -> bool:
        """Whether it ended in that time."""
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
    def __init__(self, place: Place, features: Features) -> None:
        self._place = place
        self._features = features
        self._pidfs = os.pidfd_open(os.getpid()) if features.handle else None
        self._handles = None if self._pidfs is None else handle.learn_handles(self._pidfs)

    def close(self) -> None:
        if self._pidfs is not None:
            os.close(self._pidfs)
            self._pidfs = self._handles = None

    def pin(self, identity: ProcessIdentity) -> int | Verdict:
        """The pidfd is the caller's to close. A verdict is DEAD or UNKNOWN."""
        by_handle = self._pin_by_handle(identity)
        if isinstance(by_handle, int):
            return by_handle
        by_pid = self._pin_by_pid(identity)
        in_doubt = not isinstance(by_pid, int) and by_pid.standing is Standing.UNKNOWN
        if isinstance(by_handle, Gone) and in_doubt:
            return dead(Proof.EXITED, "its handle is that of a process that is over")
        return by_pid

    def identity_of(self, pid: int, pinned: int, started: int | None) -> ProcessIdentity:
        inode = calls.inode_of(pinned) if self._features.inode else None
        return ProcessIdentity(self._place.boot, self._place.namespace, pid, started, inode)

    def _pin_by_handle(self, identity: ProcessIdentity) -> int | Gone | Unreadable | None:
        pidfs, handles = self._pidfs, self._handles
        if pidfs is None or handles is None or identity.inode is None:
            return None
        pinned = handle.open_handle(identity.inode, handles, pidfs)
        if isinstance(pinned, int) and calls.pid_of(pinned) not in (identity.pid, calls.REAPED):
            os.close(pinned)  # a record whose pid and inode are of two processes: its pid is asked instead
            return None
        return pinned

    def _pin_by_pid(self, identity: ProcessIdentity) -> int | Verdict:
        pinned = calls.open_pidfd(identity.pid)
        if isinstance(pinned, Gone):
            return dead(Proof.EXITED, "no process has its pid any more")
        if isinstance(pinned, Unreadable):
            return unknown(pinned.why)
        match = same_process(identity, self.identity_of(identity.pid, pinned, self._ticks(identity, pinned)))
        if match is Match.SAME:
            return pinned
        ended = calls.has_ended(pinned)
        os.close(pinned)
        if match is Match.DIFFERENT:
            return dead(Proof.REPLACED, "its pid belongs to another process")
        if ended:
            return dead(Proof.EXITED, "whoever last had its pid is over")
        return unknown("nothing but its pid can be compared")

    def _ticks(self, identity: ProcessIdentity, pinned: int) -> int | None:
        """The start of the pinned process. Not read where inodes decide; not believed once the process
        is reaped, for then the number may already show another's."""
        if self._features.inode and identity.inode is not None:
            return None
        try:
            with procfs.open_directory(identity.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return None
        if stat is None or (calls.has_ended(pinned) and calls.is_reaped(pinned)):
            return None
        return stat.started
