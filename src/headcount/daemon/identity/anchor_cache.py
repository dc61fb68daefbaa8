"""Settled anchors: whose reports a living process sends, remembered so that the walk is made once.

Rules of this file
  1. A key names one incarnation (its start or its inode beside its pid), never a bare pid.
  2. An agent that was found holds until it, or the process that was asked, ends. That there is none
     holds for a moment only: a shell above may yet become an agent by exec.
  3. It is bounded; the oldest goes first, and is simply asked again.

Not here: finding an anchor (anchor.py), who ends (daemon/engine/deaths.py).
"""

from collections import defaultdict

from headcount.core.values.report import Anchor
from headcount.system.clock import Clock
from headcount.times import UNANCHORED_FRESH

Key = tuple[str, str, int, int]  # agent, rung, pid, start or inode

MOST = 4096


class Settled:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._anchors: dict[Key, tuple[Anchor, float]] = {}
        self._by_pid: defaultdict[int, set[Key]] = defaultdict(set)

    def find(self, key: Key) -> Anchor | None:
        anchor, at = self._anchors.get(key, (None, 0.0))
        if anchor is None or anchor.alive:
            return anchor
        if self._clock.boottime() - at < UNANCHORED_FRESH:
            return anchor
        self._drop(key)
        return None

    def keep(self, key: Key, anchor: Anchor) -> None:
        if len(self._anchors) >= MOST:
            self._drop(next(iter(self._anchors)))
        self._anchors[key] = anchor, self._clock.boottime()
        for pid in _pids(key, anchor):
            self._by_pid[pid].add(key)

    def forget(self, pid: int) -> None:
        """Its process ended: what its pid meant must be asked again."""
        for key in tuple(self._by_pid.get(pid, ())):
            self._drop(key)

    def _drop(self, key: Key) -> None:
        anchor, _ = self._anchors.pop(key)
        for pid in _pids(key, anchor):
            self._by_pid[pid].discard(key)
            if not self._by_pid[pid]:
                del self._by_pid[pid]


def _pids(key: Key, anchor: Anchor) -> set[int]:
    return {key[2]} if anchor.process is None else {key[2], anchor.process.pid}
