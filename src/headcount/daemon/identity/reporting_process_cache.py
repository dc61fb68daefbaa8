"""Remember which agent process stands behind or above a process, so that the walk up is made once.

Rules
  1. `AnchorCache` keys name one incarnation (its start or its inode beside its pid), never a bare pid.
  2. An anchor that names an agent is kept until that agent, or the process that was asked about, ends. "No
     agent" is kept only for a moment: a shell above may become an agent by exec.
  3. Both caches are bounded. A full `AnchorCache` drops its oldest entry, a full `AgentAboveCache` all of
     them. What was dropped is simply looked up again.
  4. `AgentAboveCache` remembers what a walk up from an ancestor found: a thousand agents below one shell walk
     above it once, not a thousand times.
  5. Its entries are kept only for a moment: ancestors end, and shells become agents by exec.
  6. The loop and the census' thread both use `AgentAboveCache`: single operations on a dict, nothing more.

Not here: the walk (daemon/identity/reporting_process.py, system/processes/ancestry.py), noticing that a
  process ended (daemon/engine/deaths.py).
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Anchor
from headcount.system.clock import Clock
from headcount.times import UNANCHORED_FRESH

Key = tuple[str, str, int, int]  # agent, rung, pid, start or inode

MOST = 4096

ABOVE_MOST = 4096


class AnchorCache:
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


class AgentAbove(Struct, frozen=True):
    """Where the walk ended: at an agent, or at nobody."""

    agent: ProcessIdentity | None
    at: float


class AgentAboveCache:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._endings: dict[ProcessIdentity, AgentAbove] = {}

    def find(self, process: ProcessIdentity) -> AgentAbove | None:
        """Of a walk that comes by that process; None: walk."""
        ending = self._endings.get(process)
        if ending is None or self._clock.boottime() - ending.at >= UNANCHORED_FRESH:
            return None
        return ending

    def keep(self, passed: Iterable[ProcessIdentity], agent: ProcessIdentity | None) -> None:
        if len(self._endings) >= ABOVE_MOST:
            self._endings.clear()
        ending = AgentAbove(agent, self._clock.boottime())
        for process in passed:
            self._endings[process] = ending
