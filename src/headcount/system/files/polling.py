"""File events by polling once a second, where there is no inotify.

Rules
  1. Directories are listed in a thread, each once however many watch it, and only while something is watched.
  2. A change between two listings is reported once. A file that appears and disappears between them is not seen,
     nor that the directory itself was removed and made again.
  3. A listing is compared only for watches that existed when it began.
  4. A directory that cannot be read just now has not changed. One that is gone ends its watch.

Not here: inotify (inotify.py).
"""

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct

from headcount import times
from headcount.system.files.interface import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_IGNORED,
    IN_MODIFY,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    EndWatch,
    FileEvent,
    OnFileEvents,
)

APPEARED = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO
CHANGED = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO
VANISHED = IN_DELETE | IN_MOVED_FROM

Listing = dict[str, tuple[int, int, int]]  # name -> (inode, size, time of change)
Listings = dict[Path, Listing | None]


class _PolledDirectory(Struct, eq=False):  # compared by identity: two equal watches are still two
    path: Path
    mask: int
    callback: OnFileEvents
    seen: Listing


class PollingFileEvents:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watches: dict[_PolledDirectory, None] = {}  # in the order in which they came
        self._timer: asyncio.TimerHandle | None = None
        self._pass: asyncio.Future[Listings] | None = None

    def watch(self, path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
        watch = _PolledDirectory(path, mask, callback, list_directory(path))
        self._watches[watch] = None
        self._schedule()
        return lambda: self._end(watch)

    def polled(self) -> int:
        return len({watch.path for watch in self._watches})

    def close(self) -> None:
        for watch in tuple(self._watches):
            self._end(watch)

    def _end(self, watch: _PolledDirectory) -> None:
        self._watches.pop(watch, None)
        if not self._watches and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        if self._watches and self._timer is None and self._pass is None:
            self._timer = self._loop.call_later(times.POLL_EVERY, self._start_pass)

    def _start_pass(self) -> None:
        self._timer = None
        watches = tuple(self._watches)
        try:
            self._pass = self._loop.run_in_executor(None, _list_all, {watch.path for watch in watches})
        except (OSError, RuntimeError):  # no thread can be started now
            self._schedule()
        else:
            self._pass.add_done_callback(partial(self._end_pass, watches))

    def _end_pass(self, watches: tuple[_PolledDirectory, ...], done: asyncio.Future[Listings]) -> None:
        self._pass = None
        if done.cancelled():
            return
        try:
            listings = done.result()
            for watch in watches:
                if watch.path in listings and watch in self._watches:
                    self._compare(watch, listings[watch.path])
        finally:
            self._schedule()

    def _compare(self, watch: _PolledDirectory, listing: Listing | None) -> None:
        if listing is None:
            self._end(watch)
            events = [FileEvent("", IN_DELETE_SELF & watch.mask)] if watch.mask & IN_DELETE_SELF else []
            events.append(FileEvent("", IN_IGNORED))
        else:
            events = [event for event in _differences(watch.seen, listing, watch.mask) if event.mask]
            watch.seen = listing
        if events:
            self._tell(watch, events)

    def _tell(self, watch: _PolledDirectory, events: list[FileEvent]) -> None:
        try:
            watch.callback(events)
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"a file watch on {watch.path} failed in its callback", "exception": error}
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


def _list_all(paths: set[Path]) -> Listings:
    """List the paths. None: it is gone. A path missing from the result could not be read this time."""
    listings: Listings = {}
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
