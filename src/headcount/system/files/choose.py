"""Choose the source of file events: inotify, with polling once a second for paths that get no watch, or polling alone.

Rules
  1. Where inotify cannot be opened (another system, or a user without an instance left) everything is polled.
  2. A user has a limited number of watches (`fs.inotify.max_user_watches`), and editors and sync tools take
     them all. A path that gets none is polled instead; no caller is refused for it.
  3. Each watch is served by one of the two. Every new one tries inotify first.
  4. `await_directory` waits for a directory that does not exist yet by watching the nearest existing parent,
     without polling. It calls `look` once, when the next directory on the path appears or the parent is
     removed, even if that happens between the check and the watch. The caller then waits again if needed.

Not here: inotify (inotify.py), polling (polling.py), what is done in the directory (daemon/intake/).
"""

import asyncio
import errno
import logging
from collections.abc import Callable
from pathlib import Path

from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.interface import (
    IN_CREATE,
    IN_IGNORED,
    IN_MOVED_TO,
    EndWatch,
    FileEvent,
    FileEvents,
    OnFileEvents,
)
from headcount.system.files.polling import PollingFileEvents

log = logging.getLogger("headcount.files")


def open_file_events(loop: asyncio.AbstractEventLoop) -> FileEvents:
    try:
        return ScarceFileEvents(loop)
    except OSError:
        return PollingFileEvents(loop)


class ScarceFileEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._kernel = InotifyEvents(loop)
        self._looking = PollingFileEvents(loop)

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
        try:
            return self._kernel.watch(path, mask, callback)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            log.warning("no inotify watch is left for %s: it is looked at once a second", path)
            return self._looking.watch(path, mask, callback)

    def polled(self) -> int:
        return self._looking.polled()

    def close(self) -> None:
        self._kernel.close()
        self._looking.close()


def await_directory(files: FileEvents, directory: Path, look: Callable[[], object]) -> None:
    above = next(each for each in directory.parents if each.is_dir())
    step = directory.relative_to(above).parts[0]

    def changed(events: list[FileEvent]) -> None:
        if any(event.name in (None, step) or event.mask & IN_IGNORED for event in events):
            end()
            look()

    end = files.watch(above, IN_CREATE | IN_MOVED_TO, changed)
    if (above / step).is_dir():
        end()
        look()
