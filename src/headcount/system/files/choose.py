"""Which implementation of file events this system gets.

File events where watches are scarce: inotify as far as they go, looking once a second for the rest.

Directories that are not there yet: waited for at the nearest directory above, not polled.

Rules
  1. inotify where it can be opened, with looking for the paths that find no watch; looking once a second for
     all where it cannot (another system, or a user who has no instance left).
  2. A user has so many watches (`fs.inotify.max_user_watches`), and editors and sync tools take them all. A
     path for which none is left is looked at instead; nobody is refused for it.
  3. Each watch is told by one of the two; every new one tries the kernel first.
  4. The news is that the way there went on, or was cut off: whoever waits looks, and waits again if need be.
  5. It is told once, also when the next step was made between the look and the watch.

Not here: the implementations; how either does it (inotify.py, polling.py); what is done in a directory that
  came (registries, hints).
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


def open_file_events(loop: asyncio.AbstractEventLoop) -> FileEvents:
    try:
        return ScarceFileEvents(loop)
    except OSError:
        return PollingFileEvents(loop)


log = logging.getLogger("headcount.files")


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
