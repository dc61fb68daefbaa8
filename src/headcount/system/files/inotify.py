"""File events by inotify(7), read on the loop.

Rules
  1. One read gives one list of events per watch. A callback that raises does not affect the others.
  2. The kernel has one watch for each directory, whatever path it was named by. It is shared by all of our
     watches with that number, and removed with the last one.
  3. The mask of a kernel watch only grows: reducing it needs a path, which may lead elsewhere by now.
  4. An overflow is reported to all watches: the kernel does not say whose events were lost.

Not here: what an event means to its owner.
"""

import asyncio
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from msgspec import Struct

from headcount.system import libc
from headcount.system.files.interface import (
    ALWAYS_TOLD,
    IN_IGNORED,
    IN_Q_OVERFLOW,
    EndWatch,
    FileEvent,
    OnFileEvents,
)

HEADER = struct.Struct("=iIII")  # struct inotify_event: watch, mask, cookie, length of the name
READ_MOST = 65_536
IN_MASK_ADD = 0x2000_0000


class _InotifyWatch(Struct, frozen=True, eq=False):  # compared by identity: two equal watches are still two
    path: Path
    descriptor: int
    mask: int
    callback: OnFileEvents


class InotifyEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watches: dict[int, list[_InotifyWatch]] = {}  # kernel watch number -> our watches
        self._inotify = libc.call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        loop.add_reader(self._inotify, self._on_readable)

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
        descriptor = libc.call("inotify_add_watch", self._inotify, os.fsencode(path), mask | IN_MASK_ADD)
        watch = _InotifyWatch(path, descriptor, mask, callback)
        self._watches.setdefault(descriptor, []).append(watch)
        return lambda: self._end(watch)

    def polled(self) -> int:
        return 0

    def close(self) -> None:
        if self._inotify >= 0:
            self._loop.remove_reader(self._inotify)
            os.close(self._inotify)
            self._inotify = -1
            self._watches.clear()

    def _is_over(self, watch: _InotifyWatch) -> bool:
        return watch not in self._watches.get(watch.descriptor, ())

    def _end(self, watch: _InotifyWatch) -> None:
        if self._is_over(watch):
            return
        sharing = self._watches[watch.descriptor]
        sharing.remove(watch)
        if not sharing:
            del self._watches[watch.descriptor]
            with suppress(OSError):  # the kernel dropped it already: its directory is gone
                libc.call("inotify_rm_watch", self._inotify, watch.descriptor)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._inotify, READ_MOST)
        except BlockingIOError:
            return
        told: dict[_InotifyWatch, list[FileEvent]] = {}
        for descriptor, event in _events(data):
            for watch in self._concerned(descriptor, event.mask):
                told.setdefault(watch, []).append(event)
        for watch, events in told.items():
            self._tell(watch, events)

    def _concerned(self, descriptor: int, mask: int) -> Iterable[_InotifyWatch]:
        if mask & IN_Q_OVERFLOW:
            return chain.from_iterable(self._watches.values())
        sharing = self._watches.get(descriptor, ())
        return (watch for watch in sharing if mask & (watch.mask | ALWAYS_TOLD))

    def _tell(self, watch: _InotifyWatch, events: list[FileEvent]) -> None:
        if self._is_over(watch):
            return  # an earlier callback of this read ended it
        if any(event.mask & IN_IGNORED for event in events):
            self._end(watch)
        try:
            watch.callback(events)
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"a file watch on {watch.path} failed in its callback", "exception": error}
            )


def _events(data: bytes) -> Iterator[tuple[int, FileEvent]]:
    at = 0
    while at + HEADER.size <= len(data):
        descriptor, mask, _, length = HEADER.unpack_from(data, at)
        at += HEADER.size
        name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
        at += length
        yield descriptor, FileEvent(None if mask & IN_Q_OVERFLOW else name, mask)
