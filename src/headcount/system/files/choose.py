"""Which implementation of file events this system gets.

Rules of this file
  1. inotify where it can be opened; looking once a second where it cannot (another system, or a user
     who has no instance left).

Not here: the implementations.
"""

import asyncio

from headcount.system.files.events import FileEvents
from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.polling import PollingFileEvents


def open_file_events(loop: asyncio.AbstractEventLoop) -> FileEvents:
    try:
        return InotifyEvents(loop)
    except OSError:
        return PollingFileEvents(loop)
