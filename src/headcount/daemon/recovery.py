"""Recovery: what a start makes of what was remembered.

Rules of this file
  1. It reads before anything writes; what it finds goes in as the first batch of evidence.
  2. Every remembered process is re-proved and watched in one step. Alive: the session goes on.
     Dead: it ended while headcount was away. Doubt: it stays, as unknown.

Not here: the proof itself (system/processes), what follows from it (core/decide.py).
"""

from collections.abc import Callable

from headcount import __version__
from headcount.core.evidence import Awake, Evidence, Judged, Rebooted
from headcount.core.identity import ProcessIdentity
from headcount.core.verdict import Standing, Verdict, judge_place
from headcount.core.world import World
from headcount.store.port import Loaded
from headcount.system.processes.port import Processes

OnDeath = Callable[[ProcessIdentity, Verdict], None]


def recover(
    world: World, loaded: Loaded, processes: Processes, on_death: OnDeath, now: float
) -> list[Evidence]:
    evidence: list[Evidence] = [
        Awake(
            now,
            store_lost=str(loaded.set_aside) if loaded.set_aside else None,
            version=__version__,
            seen_until=loaded.last_seen,
        )
    ]
    if loaded.machine in (None, world.place.machine):
        evidence.append(Rebooted(now))
    for session in world.open_sessions():
        if session.process is not None:
            machine = loaded.machines.get(session.id, world.place.machine)
            verdict = _reprove(session.process, processes, on_death, world, machine)
            evidence.append(Judged(session.process, verdict, now, away=verdict.standing is Standing.DEAD))
    return evidence


def _reprove(
    process: ProcessIdentity, processes: Processes, on_death: OnDeath, world: World, machine: str
) -> Verdict:
    verdict = judge_place(process, world.place, machine)
    return verdict if verdict is not None else processes.watch(process, on_death)
