"""A process handle: an identity pinned by an open pidfd. The only thing through which anything is signalled.

Rules of this file
  1. It was verified to be that incarnation when it was made, and stays it: a pidfd never becomes another process.
  2. Waiting for the end is on the same descriptor that is signalled, by one at a time. It needs no other: whoever
     was signalled can be waited for also when no descriptor is left.
  3. It must be closed.

Not here: making one (linux.py), sending through it (system/signals.py).
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Exit
from headcount.system.processes import exits, procfs
from headcount.system.processes.pidfds import calls as pidfds

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
        return exits.read_exit(self.pidfd, self.pid, self.identity.started, self.exit_info)

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
