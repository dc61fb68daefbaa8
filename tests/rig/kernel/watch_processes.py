"""Watching processes in a test: what was told, and waiting for it on the loop."""

import asyncio
import time
from collections.abc import Callable

from msgspec.structs import replace

from headcount import times
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Verdict
from headcount.system.processes.interface import Processes

NEVER_GIVEN = 10_000_000  # added to an inode: one that no process has had


class Deaths:
    """Collects what `on_death` tells, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[ProcessIdentity, Verdict]] = []

    def __call__(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        self.told.append((identity, verdict))


async def until(condition: Callable[[], object], within: float = 10.0) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.002)


async def quiet_for_three_passes() -> None:
    """Long enough for anything wrong to be told: what must not happen has no event to wait for."""
    await asyncio.sleep(times.POLL_EVERY * 3 + 0.05)


def seen(processes: Processes, pid: int) -> ProcessFacts:
    found = processes.look(pid)
    assert isinstance(found, ProcessFacts), found
    return found


def another_incarnation(identity: ProcessIdentity) -> ProcessIdentity:
    """One that had the same pid before."""
    assert identity.started is not None
    return replace(
        identity, started=identity.started - 500, inode=identity.inode and identity.inode + NEVER_GIVEN
    )
