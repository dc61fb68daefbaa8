"""Remains: all leftovers that are remembered, and the page on which a batch changes them.

Rules
  1. Rows say what was left; indices are derived from them, here and only here.
  2. Which dead processes were searched for is known in memory only: a start searches again.

Not here: what is a leftover (core/values/leftover.py), when one is found or gone (core/leftovers/lifecycle.py), storage (store/).
"""

from collections.abc import Iterable, Iterator

from headcount.core.state.overlay_map import OverlayMap, add_to, take_from
from headcount.core.values.leftover import Leftover, LeftoverId, LeftoverKind
from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.session import SessionId


class LeftoversState:
    def __init__(self, leftovers: Iterable[Leftover] = ()) -> None:
        self.rows: dict[LeftoverId, Leftover] = {}
        self.by_session: dict[SessionId | None, tuple[LeftoverId, ...]] = {}
        self.by_pid: dict[int, tuple[LeftoverId, ...]] = {}  # of those that are there and are processes
        self.by_left_by: dict[int, tuple[LeftoverId, ...]] = {}  # the same, by the pid that left them
        self.searched: dict[ProcessIdentity, bool] = {}
        page = LeftoversDraft(self)
        for leftover in leftovers:
            page.put(leftover)
        page.settle()

    def there(self) -> Iterator[Leftover]:
        return (each for each in self.rows.values() if each.is_there)

    def of_session(self, session: SessionId | None) -> list[Leftover]:
        return [self.rows[id] for id in self.by_session.get(session, ())]


class LeftoversDraft:
    """The remains as they will be if the batch is committed."""

    def __init__(self, remains: LeftoversState) -> None:
        self._remains = remains
        self.rows = OverlayMap(remains.rows)
        self._by_session = OverlayMap(remains.by_session)
        self._by_pid = OverlayMap(remains.by_pid)
        self._by_left_by = OverlayMap(remains.by_left_by)
        self._searched = OverlayMap(remains.searched)
        self.written: dict[LeftoverId, Leftover] = {}
        self.dropped: list[LeftoverId] = []

    @property
    def is_blank(self) -> bool:
        return not (self.written or self.dropped)

    def of_session(self, session: SessionId | None) -> list[Leftover]:
        return [self.rows[id] for id in self._by_session.get(session, ())]

    def of_process(self, process: ProcessIdentity) -> list[Leftover]:
        """That are this very process, and there."""
        found: list[Leftover] = [self.rows[id] for id in self._by_pid.get(process.pid, ())]
        return [each for each in found if each.process and same_process(each.process, process) is Match.SAME]

    def running_of(self, process: ProcessIdentity) -> list[Leftover]:
        """Processes that this dead one left, and that are there."""
        found: list[Leftover] = [self.rows[id] for id in self._by_left_by.get(process.pid, ())]
        return [each for each in found if each.of and same_process(each.of, process) is Match.SAME]

    @property
    def has_running(self) -> bool:
        return next(iter(self._by_left_by), None) is not None

    def is_searched(self, process: ProcessIdentity) -> bool:
        return process in self._searched

    def note_search(self, process: ProcessIdentity) -> None:
        """That dead one was searched for, and what was found is in this batch."""
        self._searched[process] = True

    def put(self, leftover: Leftover) -> None:
        before: Leftover | None = self.rows.get(leftover.id)
        if before is None:
            add_to(self._by_session, leftover.session, leftover.id)
        else:
            self._unlist(before)
        self.rows[leftover.id] = leftover
        self.written[leftover.id] = leftover
        if leftover.is_there and leftover.process is not None:
            add_to(self._by_pid, leftover.process.pid, leftover.id)
            if leftover.kind is LeftoverKind.PROCESS and leftover.of is not None:
                add_to(self._by_left_by, leftover.of.pid, leftover.id)

    def drop(self, leftover: Leftover) -> None:
        self._unlist(leftover)
        take_from(self._by_session, leftover.session, leftover.id)
        del self.rows[leftover.id]
        self.written.pop(leftover.id, None)
        self.dropped.append(leftover.id)

    def settle(self) -> None:
        for layer in (self.rows, self._by_session, self._by_pid, self._by_left_by, self._searched):
            layer.settle()
        self.written, self.dropped = {}, []

    def _unlist(self, leftover: Leftover) -> None:
        if leftover.process is not None:
            take_from(self._by_pid, leftover.process.pid, leftover.id)
        if leftover.of is not None:
            take_from(self._by_left_by, leftover.of.pid, leftover.id)
