"""The interface to file events.

Rules
  1. An event is a hint to read again. It may come twice. After an overflow (a name of None) events may be
     missing, so the owner reads the whole directory.
  2. Events of one read come as one list, in the order in which they happened.
  3. Watches are independent: a path may have many, under one name or several. Each gets what it asked for,
     and ending one leaves the others. Ending one twice does nothing.
  4. IN_IGNORED says that the watch ended by itself: its directory was removed or unmounted.
  5. After its end a watch gets no more events, not even those that were already read.

Implementations: inotify.py, polling.py, and both together in choose.py; one contract suite runs on all.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

IN_MODIFY = 0x2
IN_CLOSE_WRITE = 0x8
IN_OPEN = 0x20
IN_MOVED_FROM = 0x40
IN_MOVED_TO = 0x80
IN_CREATE = 0x100
IN_DELETE = 0x200
IN_DELETE_SELF = 0x400
IN_MOVE_SELF = 0x800  # only with inotify; polling uses the path, which may lead elsewhere by then
IN_Q_OVERFLOW = 0x4000
IN_IGNORED = 0x8000

ALWAYS_TOLD = IN_Q_OVERFLOW | IN_IGNORED


class FileEvent(Struct, frozen=True):
    name: str | None  # in its directory; "": the watched path itself; None: unknown, read everything
    mask: int


OnFileEvents = Callable[[list[FileEvent]], None]
EndWatch = Callable[[], None]


class FileEvents(Protocol):
    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
        """Watch until the returned function is called. Raises OSError if the path does not exist."""
        ...

    def polled(self) -> int:
        """How many paths are polled once a second because they have no kernel watch."""
        ...

    def close(self) -> None: ...
