"""Recovery: what a start makes of what was remembered.

Rules of this file
  1. It reads before anything writes; what it finds goes in as the first batch of evidence.
  2. Every remembered process, of a session or holding a claim, is re-proved and watched in one step.
     Alive: it goes on. Dead: it ended while headcount was away. Doubt: it stays, as unknown.

Not here: the proof itself (system/processes), what follows from it (core/decide.py).
"""

from collections.abc import Callable

from headcount import __version__
from headcount.core.book import Book
from headcount.core.evidence import Awake, Evidence, Judged, Rebooted
from headcount.core.identity import ProcessIdentity
from headcount.core.session import SessionId
from headcount.core.verdict import Standing, Verdict, judge_place
from headcount.core.world import World
from headcount.store.port import Loaded
from headcount.system.processes.port import Processes

MS = 1000

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
    for process, session in _remembered(world).items():
        machine = loaded.machines.get(session, world.place.machine) if session else world.place.machine
        verdict = _reprove(process, processes, on_death, world, machine)
        evidence.append(Judged(process, verdict, now, away=verdict.standing is Standing.DEAD))
    return evidence


def open_book(loaded: Loaded, now: float) -> Book:
    """The ledger as it was left. A new one starts at the clock, which is above every fence of a lost one."""
    first = 0 if loaded.claims else int(now * MS)
    return Book(loaded.claims, loaded.requests, first, loaded.loss)


def _remembered(world: World) -> dict[ProcessIdentity, SessionId | None]:
    """Every process that hosts a session or holds a claim, with the session that speaks for it."""
    holders = {claim.holder: claim.session for claim in world.book.holding() if claim.holder is not None}
    hosts = {each.process: each.id for each in world.open_sessions() if each.process is not None}
    return {**holders, **hosts}


def _reprove(
    process: ProcessIdentity, processes: Processes, on_death: OnDeath, world: World, machine: str
) -> Verdict:
    verdict = judge_place(process, world.place, machine)
    return verdict if verdict is not None else processes.watch(process, on_death)
