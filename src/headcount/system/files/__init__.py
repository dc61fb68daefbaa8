"""Changes of files in a directory: by inotify, elsewhere by polling.

Enters: directories to watch.
Leaves: file events on the event loop.
"""

from headcount.system.files.choose import await_directory, open_file_events
from headcount.system.files.interface import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_IGNORED,
    IN_MODIFY,
    IN_MOVE_SELF,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    IN_OPEN,
    IN_Q_OVERFLOW,
    EndWatch,
    FileEvent,
    FileEvents,
    OnFileEvents,
)

__all__ = (
    "IN_CLOSE_WRITE",
    "IN_CREATE",
    "IN_DELETE",
    "IN_DELETE_SELF",
    "IN_IGNORED",
    "IN_MODIFY",
    "IN_MOVED_FROM",
    "IN_MOVED_TO",
    "IN_MOVE_SELF",
    "IN_OPEN",
    "IN_Q_OVERFLOW",
    "EndWatch",
    "FileEvent",
    "FileEvents",
    "OnFileEvents",
    "await_directory",
    "open_file_events",
)
