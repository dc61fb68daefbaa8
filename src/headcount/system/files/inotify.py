"""File events by inotify(7), read on the loop.

Rules of this file
  1. One read, one list for each watch. A callback that raises does not keep the others from theirs.
  2. Two paths may be one directory: the kernel then gives one watch, and both are told, each what it asked for.
  3. An overflow is told to everybody: nobody knows whose events were lost.

Not here: what an event means to its owner.
"""

import asyncio
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from headcount.system import libc
from headcount.system.files.events import ALWAYS_TOLD, IN_IGNORED, IN_Q_OVERFLOW, FileEvent, OnFileEvents

HEADER = struct.Struct("=iIII")  # struct inotify_event: watch, mask, cookie, length of the name
READ_MOST = 65_536
IN_MASK_ADD = 0x2000_0000


class _Watch(Struct, frozen=True):
    descriptor: int
    mask: int
    callback: OnFileEvents


class InotifyEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watches: dict[Path, _Watch] = {}
        self._inotify = libc.call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        loop.add_reader(self._inotify, self._on_readable)

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> None:
        descriptor = libc.call("inotify_add_watch", self._inotify, os.fsencode(path), mask | IN_MASK_ADD)
        before = self._watches.get(path)
        self._watches[path] = _Watch(descriptor, mask, callback)
        if before is not None and before.descriptor != descriptor:  # the path is another directory now
            self._forget(before.descriptor)

    def unwatch(self, path: Path) -> None:
        watch = self._watches.pop(path, None)
        if watch is not None:
            self._forget(watch.descriptor)

    def polled(self) -> int:
        return 0

    def close(self) -> None:
        if self._inotify >= 0:
            self._loop.remove_reader(self._inotify)
            os.close(self._inotify)
            self._inotify = -1
            self._watches.clear()

    def _forget(self, descriptor: int) -> None:
        if all(watch.descriptor != descriptor for watch in self._watches.values()):
            with suppress(OSError):  # the kernel dropped it already: its directory is gone
                libc.call("inotify_rm_watch", self._inotify, descriptor)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._inotify, READ_MOST)
        except BlockingIOError:
            return
        told: dict[Path, list[FileEvent]] = {}
        for descriptor, event in _events(data):
            for path, watch in self._watches.items():
                if event.mask & IN_Q_OVERFLOW or (
                    watch.descriptor == descriptor and event.mask & (watch.mask | ALWAYS_TOLD)
                ):
                    told.setdefault(path, []).append(event)
        for path, events in told.items():
            self._tell(path, events)

    def _tell(self, path: Path, events: list[FileEvent]) -> None:
        watch = self._watches.get(path)
        if watch is None:
            return  # an earlier callback of this read took it away
        if any(event.mask & IN_IGNORED for event in events):
            del self._watches[path]
        try:
            watch.callback(events)
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"a file watch on {path} failed in its callback", "exception": error}
            )


def _events(data: bytes) -> Iterator[tuple[int, FileEvent]]:
    at = 0
    while at + HEADER.size <= len(data):
        descriptor, mask, _, length = HEADER.unpack_from(data, at)
        at += HEADER.size
        name = os.fsdecode(data[at : at + length].rstrip(b"\0"))
        at += length
        yield descriptor, FileEvent(None if mask & IN_Q_OVERFLOW else name, mask)
