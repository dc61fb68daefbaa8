"""What the tests of file events watch with: every implementation of the port, and watchers that remember.

Rules of this file
  1. All that claim the contract are listed here, so that no test runs on fewer.
"""

import asyncio
import errno
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NoReturn

from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_MOVED_TO,
    EndWatch,
    FileEvent,
    FileEvents,
    OnFileEvents,
)
from headcount.system.files.choose import ScarceFileEvents
from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.polling import PollingFileEvents

WANTED = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF


class WithoutWatches(ScarceFileEvents):
    """The kernel has no watch left for anybody."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._kernel.watch = refuse_watch  # type: ignore[assignment, method-assign]


def refuse_watch(path: Path, *_: object) -> NoReturn:
    path.stat()  # a path that is not there is told first
    raise OSError(errno.ENOSPC, "No space left on device")


class EveryOther(ScarceFileEvents):
    """The kernel has a watch for every other asker: those of one path are told in two ways."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        right, asked = self._kernel.watch, count()

        def watch(path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
            return refuse_watch(path) if next(asked) % 2 else right(path, mask, callback)

        self._kernel.watch = watch  # type: ignore[method-assign]


Opener = Callable[[asyncio.AbstractEventLoop], FileEvents]
ALIKE: tuple[Opener, ...] = (  # all watches of a path are told in the same way
    InotifyEvents,
    PollingFileEvents,
    ScarceFileEvents,
    WithoutWatches,
)
IMPLEMENTATIONS = (*ALIKE, EveryOther)


class Told:
    def __init__(self) -> None:
        self.lists: list[list[FileEvent]] = []

    def __call__(self, events: list[FileEvent]) -> None:
        self.lists.append(events)

    def names(self, mask: int) -> set[str | None]:
        return {event.name for events in self.lists for event in events if event.mask & mask}


async def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.002)
