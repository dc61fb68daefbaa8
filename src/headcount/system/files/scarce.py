"""File events where watches are scarce: inotify as far as they go, looking once a second for the rest.

Rules of this file
  1. A user has so many watches (`fs.inotify.max_user_watches`), and editors and sync tools take them all. A path
     for which none is left is looked at instead; nobody is refused for it.
  2. Each path is told of by one of the two. Watching it again tries the kernel first.

Not here: how either does it (inotify.py, polling.py).
"""

import asyncio
import errno
import logging
from pathlib import Path

from headcount.system.files.events import OnFileEvents
from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.polling import PollingFileEvents

log = logging.getLogger("headcount.files")


class ScarceFileEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._kernel = InotifyEvents(loop)
        self._looking = PollingFileEvents(loop)

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> None:
        try:
            self._kernel.watch(path, mask, callback)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            log.warning("no inotify watch is left for %s: it is looked at once a second", path)
            self._kernel.unwatch(path)
            self._looking.watch(path, mask, callback)
        else:
            self._looking.unwatch(path)

    def unwatch(self, path: Path) -> None:
        self._kernel.unwatch(path)
        self._looking.unwatch(path)

    def polled(self) -> int:
        return self._looking.polled()

    def close(self) -> None:
        self._kernel.close()
        self._looking.close()
