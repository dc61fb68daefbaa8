"""Recovery: what a start makes of what was remembered.

Rules
  1. It reads before anything writes; what it finds goes in as the first batch of evidence.
  2. Every remembered process, of a session, holding a claim or left behind, is re-proved and watched in one step.
     Alive: it goes on. Dead: it ended while headcount was away. Doubt: it stays, as unknown.

Not here: the proof itself (system/processes), what follows from it (core/decide.py).
"""

from headcount import __version__
from headcount.core.state.claims import ClaimsState
from headcount.core.state.world import World
from headcount.core.values.evidence import Awake, Evidence, Rebooted
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import judge_place
from headcount.daemon.engine.deaths import Deaths
from headcount.store.interface import Loaded

MS = 1000


def recover(world: World, loaded: Loaded, deaths: Deaths, now: float) -> list[Evidence]:
    evidence: list[Evidence] = [
        Awake(
            now,
            store_lost=loaded.loss if loaded.last_seen is None else None,
            version=__version__,
            seen_until=loaded.last_seen,
        )
    ]
    evidence.append(Rebooted(now))
    for process in _remembered(world):
        verdict = judge_place(process, world.place, world.machine_of(process.boot)) or deaths.watch(process)
        evidence.append(deaths.judged(process, verdict, away=True))
    return evidence


def boots_of(loaded: Loaded) -> dict[str, str]:
    """On which machine each boot was: a home that was carried elsewhere remembers boots that are not over."""
    return {each.boot: loaded.machines[each.id] for each in loaded.sessions if each.id in loaded.machines}


def open_book(loaded: Loaded, now: float) -> ClaimsState:
    """The ledger as it was left. A new one starts at the clock, which is above every fence of a lost one."""
    first = 0 if loaded.claims else int(now * MS)
    return ClaimsState(loaded.claims, loaded.requests, first, loaded.loss)


def _remembered(world: World) -> dict[ProcessIdentity, None]:
    """Every process that holds a claim, hosts a session, or is a leftover of one."""
    left = (leftover.process for leftover in world.remains.there())
    holders = (claim.holder for claim in world.book.holding())
    hosts = (session.process for session in world.open_sessions())
    return dict.fromkeys(each for each in (*holders, *hosts, *left) if each is not None)
