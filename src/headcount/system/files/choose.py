"""Which implementation of file events this system gets.

Rules of this file
  1. inotify where it can be opened, with looking for the paths that find no watch; looking once a second for
     all where it cannot (another system, or a user who has no instance left).

Not here: the implementations.
"""

import asyncio

from headcount.system.files.interface import FileEvents
from headcount.system.files.polling import PollingFileEvents
from headcount.system.files.scarce import ScarceFileEvents


def open_file_events(loop: asyncio.AbstractEventLoop) -> FileEvents:
    try:
        return ScarceFileEvents(loop)
    except OSError:
        return PollingFileEvents(loop)
