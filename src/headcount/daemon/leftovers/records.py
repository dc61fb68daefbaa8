"""Records that were left: files of an agent's own registry that speak of a process that is proven over.

Rules
  1. Read, never deleted, moved or written: they are the agent's (K8).
  2. A file is stale by the kernel's word only: nobody has that pid, or one that started at another moment. A file
     without a start, of another namespace or of a process that cannot be asked, is not called stale.

Not here: what a file says (agents/), watching the directory (daemon/intake/registries.py).
"""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from headcount.agents.interface import Registry, RegistryEntry
from headcount.core.state.world import World
from headcount.core.values.leftover import Find, Leftover, LeftoverKind
from headcount.core.values.process import ProcessFacts
from headcount.core.values.session import Session
from headcount.system.processes.interface import Processes, ProcessGone

Places = Iterable[tuple[Registry, Path]]
Stale = tuple[RegistryEntry, Find]


def stale(places: Places, processes: Processes, pids: Collection[int] | None = None) -> list[Stale]:
    """All that are stale now; with `pids` only those that name one of them. For a thread."""
    found = []
    for registry, directory in places:
        for path in _files(registry, directory):
            entry = registry.read(path)
            if entry is not None and (pids is None or entry.pid in pids):
                why = _why_stale(entry, processes)
                if why is not None:
                    found.append((entry, _find(path, entry, why)))
    return found


def owner_of(entry: RegistryEntry, world: World) -> Session | None:
    """The last session of the process that the file speaks of, if it is remembered."""
    for id in reversed(world.by_pid.get(entry.pid, ())):
        session = world.sessions[id]
        if session.process is not None and session.process.started == entry.started:
            return session if not session.is_open else None
    return None


def why_gone(leftover: Leftover) -> str | None:
    path = Path(str(leftover.facts.get("path")))
    try:
        now = path.lstat()
    except FileNotFoundError:
        return "the file is gone"
    except OSError:
        return None
    return "it was written again" if now.st_mtime_ns != leftover.facts.get("written") else None


def _files(registry: Registry, directory: Path) -> list[Path]:
    try:
        return [directory / name for name in sorted(os.listdir(directory)) if registry.is_entry_name(name)]
    except OSError:
        return []


def _why_stale(entry: RegistryEntry, processes: Processes) -> str | None:
    place = processes.place()
    if (
        entry.started is None
        or entry.namespace != place.namespace
        or entry.machine not in (None, place.machine)
    ):
        return None
    facts = processes.look(entry.pid)
    if isinstance(facts, ProcessGone):
        return f"no process has pid {entry.pid}"
    if isinstance(facts, ProcessFacts) and facts.identity.started not in (None, entry.started):
        return f"pid {entry.pid} belongs to another process now"
    return None


def _find(path: Path, entry: RegistryEntry, why: str) -> Find:
    try:
        written = path.lstat().st_mtime_ns
    except OSError:
        written = 0
    facts = {"path": str(path), "names": entry.pid, "conversation": entry.conversation, "written": written}
    return Find(LeftoverKind.RECORD, str(path), str(path), (why,), facts=facts)
