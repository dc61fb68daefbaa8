"""Hints: something changed in a directory of an agent's, so its processes are looked at again. No more.

Rules
  1. A change says nothing by itself; which file it was is not asked. Many at once make one look.
  2. A process in its first second is not looked at yet, so each look is followed by one after that second.
  3. A directory that does not exist yet, or no longer, is waited for, not polled.

Not here: the look (census.py), the agents' places (agents/).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_IGNORED,
    IN_MOVED_TO,
    IN_OPEN,
    FileEvent,
    FileEvents,
    await_directory,
)
from headcount.times import CENSUS_SETTLES, HINT_AFTER

log = logging.getLogger("headcount.hints")

# a lock that was left behind is opened, not created; one that is given back is closed or removed
CHANGES = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_OPEN | IN_DELETE


class DirectoryHints:
    def __init__(self, files: FileEvents, look: Callable[[], object]) -> None:
        self._files = files
        self._look = look
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self.watched: list[Path] = []

    def open(self, directories: Iterable[Path]) -> None:
        for directory in dict.fromkeys(directories):
            self._arm(directory)

    def close(self) -> None:
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()

    def _arm(self, directory: Path) -> None:
        try:
            if directory.is_dir():
                self._files.watch(directory, CHANGES, lambda events: self._changed(directory, events))
                self.watched.append(directory)
            else:
                await_directory(self._files, directory, lambda: self._appeared(directory))
        except OSError as error:  # without hints the census finds it, later
            log.warning("%s cannot be watched: %s", directory, error.strerror)

    def _appeared(self, directory: Path) -> None:
        self._arm(directory)
        self._hinted()

    def _changed(self, directory: Path, events: list[FileEvent]) -> None:
        if any(event.mask & IN_IGNORED for event in events):
            self.watched.remove(directory)
            self._arm(directory)
        if any(event.name is None or not event.name.startswith(".") for event in events):
            self._hinted()

    def _hinted(self) -> None:
        loop = asyncio.get_running_loop()
        if self._soon is None:
            self._soon = loop.call_later(HINT_AFTER, self._look_soon)
        if self._later is not None:
            self._later.cancel()
        self._later = loop.call_later(HINT_AFTER + CENSUS_SETTLES, self._look)

    def _look_soon(self) -> None:
        self._soon = None
        self._look()
