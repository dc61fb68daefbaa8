"""The home under a running daemon: the store is the one that was opened, and the socket is in its place.

Rules
  1. Where store or log are no longer what their paths lead to, the process ends at once, as by a kill. Closing in order
     would write into, or remove, what another daemon may have put there by now.
  2. A socket that was removed or replaced is made anew, in a home that is still ours.
  3. Looked at when the directory changes and with each question of the watchdog; the store also at each commit
     (store/sqlite/file_identity.py). Nothing of a home that was removed is made again.

Not here: that the next start knows of the loss (store_marks.py).
"""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headcount.core.state.claims import Entries
from headcount.core.state.world import World
from headcount.daemon.home import store_marks
from headcount.daemon.http.listen import HttpServer, open_unix_socket
from headcount.paths import Places
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.files import (
    IN_DELETE,
    IN_DELETE_SELF,
    IN_MOVE_SELF,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    FileEvent,
    FileEvents,
)
from headcount.times import MADE_AGAIN_AFTER

CHANGED = IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_MOVED_FROM | IN_MOVED_TO
PULLED_AWAY = 71  # exit code of a daemon whose store was taken from it

log = logging.getLogger("headcount.home")


class HomeWatch:
    def __init__(self, places: Places, store: SqliteStore, server: HttpServer, world: World) -> None:
        self._places = places
        self._store = store
        self._server = server
        self._world = world
        self._socket: tuple[int, int] | None = None  # None: it is not open yet
        self._is_deaf = False
        self._is_closed = False
        self._fence = store.loaded.newest_fence
        self._mark = store_marks.bear(places, self._fence)

    def open(self, files: FileEvents) -> None:
        self._server.listen(open_unix_socket(Path(self._places.socket)))
        self._socket = _at(self._places.socket)
        files.watch(Path(self._places.state), CHANGED, self._changed)
        self.look()

    def stored(self, entries: Entries) -> None:
        """Before what was stored is answered."""
        newest = max((claim.fence for claim in entries.claims.values()), default=0)
        if newest > self._fence:
            self._fence = newest
            store_marks.granted(self._mark, newest)

    def check(self) -> None:
        """Returns only while the store is in its place, or is being closed: SQLite itself removes the log then."""
        if self._is_closed:
            return
        try:
            self._store.look()
        except StoreFault as fault:
            self.ends_by(fault)

    def ends_by(self, fault: BaseException) -> None:
        """At once, if it is that the store is gone."""
        if isinstance(fault, StoreFault) and fault.kind == "gone":
            log.critical("headcount ends: %s", fault)
            os._exit(PULLED_AWAY)

    def look(self) -> None:
        self.check()
        if self._socket is not None and _at(self._places.socket) != self._socket:
            self._listen_again()

    def close(self) -> None:
        """In order, whatever of the rest failed: SQLite removes its log when the store is closed."""
        self.check()
        self._is_closed, self._socket = True, None
        with suppress(OSError):
            os.unlink(self._places.socket)
        store_marks.withdraw(self._places, is_held=any(self._world.book.holding()))
        if self._mark is not None:
            os.close(self._mark)
            self._mark = None

    def _changed(self, events: list[FileEvent]) -> None:
        """The store at once; the socket a little later, so that whoever removes the whole home does not find it anew."""
        self.check()
        asyncio.get_running_loop().call_later(MADE_AGAIN_AFTER, self.look)

    def _listen_again(self) -> None:
        try:
            self._server.listen(open_unix_socket(Path(self._places.socket)))
        except OSError as error:
            if not self._is_deaf:
                log.error("the socket is gone and cannot be made again: %s", error.strerror)
            self._is_deaf = True
            return
        log.warning("the socket was removed or replaced; it is made again")
        self._socket, self._is_deaf = _at(self._places.socket), False


def open_store(places: Places, machine: str, now: Callable[[], float]) -> SqliteStore:
    """The store that was served here before, or a new one that knows of the loss."""
    path, lost = Path(places.database), store_marks.why_lost(places)
    store = SqliteStore.open(path, machine=machine, now=now, lost=lost)
    older = (
        store_marks.why_older(places, store.loaded.newest_fence)
        if lost is None and not store.loaded.set_aside
        else None
    )
    if older is None:
        return store
    store.close()
    return SqliteStore.open(path, machine=machine, now=now, lost=older)


def _at(path: str) -> tuple[int, int]:
    try:
        there = os.lstat(path)
    except OSError:
        return 0, 0
    return there.st_dev, there.st_ino
