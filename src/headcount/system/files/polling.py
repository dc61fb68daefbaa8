"""File events by looking once a second, where there is no inotify.

Rules of this file
  1. Directories are listed in a thread, and only while something is watched.
  2. A change between two looks is told once. What came and went between them is not seen.
  3. A directory that cannot be read just now has not changed; one that is gone ends its watch.

Not here: inotify (inotify.py).
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from headcount import times
from headcount.system.files.events import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_IGNORED,
    IN_MODIFY,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    FileEvent,
    OnFileEvents,
)

APPEARED = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO
CHANGED = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO
VANISHED = IN_DELETE | IN_MOVED_FROM

Listing = dict[str, tuple[int, int, int]]  # name -> (inode, size, time of change)


class _Watch(Struct):
    mask: int
    callback: OnFileEvents
    seen: Listing


class PollingFileEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watches: dict[Path, _Watch] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._pass: asyncio.Future[dict[Path, Listing | None]] | None = None

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> None:
        self._watches[path] = _Watch(mask, callback, list_directory(path))
        self._schedule()

    def unwatch(self, path: Path) -> None:
        self._watches.pop(path, None)
        if not self._watches and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def polled(self) -> int:
        return len(self._watches)

    def close(self) -> None:
        for path in tuple(self._watches):
            self.unwatch(path)

    def _schedule(self) -> None:
        if self._watches and self._timer is None and self._pass is None:
            self._timer = self._loop.call_later(times.POLL_EVERY, self._start_pass)

    def _start_pass(self) -> None:
        self._timer = None
        try:
            self._pass = self._loop.run_in_executor(None, _list_all, tuple(self._watches))
        except (OSError, RuntimeError):  # no thread can be started now
            self._schedule()
        else:
            self._pass.add_done_callback(self._end_pass)

    def _end_pass(self, done: asyncio.Future[dict[Path, Listing | None]]) -> None:
        self._pass = None
        if done.cancelled():
            return
        try:
            for path, listing in done.result().items():
                self._compare(path, listing)
        finally:
            self._schedule()

    def _compare(self, path: Path, listing: Listing | None) -> None:
        watch = self._watches.get(path)
        if watch is None:
            return
        if listing is None:
            self.unwatch(path)
            events = [FileEvent("", IN_DELETE_SELF & watch.mask)] if watch.mask & IN_DELETE_SELF else []
            events.append(FileEvent("", IN_IGNORED))
        else:
            events = [event for event in _differences(watch.seen, listing, watch.mask) if event.mask]
            watch.seen = listing
        if events:
            self._tell(path, watch.callback, events)

    def _tell(self, path: Path, callback: OnFileEvents, events: list[FileEvent]) -> None:
        try:
            callback(events)
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"a file watch on {path} failed in its callback", "exception": error}
            )


def list_directory(path: Path) -> Listing:
    listing: Listing = {}
    with os.scandir(path) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            listing[entry.name] = (found.st_ino, found.st_size, found.st_mtime_ns)
    return listing


def _list_all(paths: tuple[Path, ...]) -> dict[Path, Listing | None]:
    """None: it is gone. A path that is missing in the answer could not be read this time."""
    listings: dict[Path, Listing | None] = {}
    for path in paths:
        try:
            listings[path] = list_directory(path)
        except FileNotFoundError:
            listings[path] = None
        except OSError:
            continue
    return listings


def _differences(before: Listing, now: Listing, mask: int) -> Iterator[FileEvent]:
    for name in before.keys() - now.keys():
        yield FileEvent(name, mask & VANISHED)
    changed = (name for name in now if before.get(name) != now[name])
    for name in sorted(changed, key=lambda name: now[name][2]):
        yield FileEvent(name, mask & (CHANGED if name in before else APPEARED))
