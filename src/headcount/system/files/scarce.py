"""File events where watches are scarce: inotify as far as they go, looking once a second for the rest.

Rules of this file
  1. A user has so many watches (`fs.inotify.max_user_watches`), and editors and sync tools take them all. A path
     for which none is left is looked at instead; nobody is refused for it.
  2. Each watch is told by one of the two; every new one tries the kernel first.

Not here: how either does it (inotify.py, polling.py).
"""

import asyncio
import errno
import logging
from pathlib import Path

from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.interface import EndWatch, OnFileEvents
from headcount.system.files.polling import PollingFileEvents

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
