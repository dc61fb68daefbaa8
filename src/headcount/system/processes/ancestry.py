"""Walk up from a process to its ancestors, every step verified.

Rules
  1. Read the child, read the parent it names, then read the child again. Only if it is still the same
     incarnation with the same parent, that process was its parent.
  2. A step that cannot be verified ends the walk. Nothing is guessed across the gap: a process that was
     re-parented has no ancestors beyond it.
  3. The walk is bounded and ends below pid 1: every process descends from init.

Not here: what kind of process an ancestor is (agents/).
"""

from collections.abc import Iterator

from headcount.core.values.process import Match, ProcessFacts, same_process
from headcount.system.processes.interface import Processes

DEPTH_MOST = 64
INIT = 1


def ancestors(processes: Processes, start: ProcessFacts | int) -> Iterator[ProcessFacts]:
    """The start itself first, then its parent, and so on. Reads as far as it is iterated."""
    first = _first(processes, start)
    if first is not None:
        yield first
        yield from above(processes, first)


def above(processes: Processes, child: ProcessFacts) -> Iterator[ProcessFacts]:
    """Only the ancestors, of a child that was just read: each step reads the child again anyway."""
    for _ in range(DEPTH_MOST - 1):
        parent = _parent_of(processes, child)
        if parent is None:
            return
        yield parent
        child = parent


def _first(processes: Processes, start: ProcessFacts | int) -> ProcessFacts | None:
    seen = processes.look(start if isinstance(start, int) else start.pid)
    if not isinstance(seen, ProcessFacts):
        return None
    if isinstance(start, ProcessFacts) and same_process(start.identity, seen.identity) is not Match.SAME:
        return None
    return seen


def _parent_of(processes: Processes, child: ProcessFacts) -> ProcessFacts | None:
    if child.parent <= INIT:
        return None
    parent = processes.look(child.parent)
    if not isinstance(parent, ProcessFacts) or processes.parent(child.identity) != child.parent:
        return None
    return parent
