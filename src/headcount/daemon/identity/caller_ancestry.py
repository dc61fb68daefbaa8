"""Lineage: which sessions a caller descends from, by the kernel's word while the caller waits.

Rules
  1. Every step up is verified (system/processes/ancestry.py); a host is the very incarnation that a session
     is bound to, never its pid.
  2. An agent that is recognised but was not heard of yet becomes known first: the nearest agent is the
     caller's, also in its first second (accident I5).
  3. A connection belongs to one process for life: its way up is walked once, and what those processes host is
     looked up anew for each request.
  4. A process may host several sessions at once: `hosts` has one of each process, which stands for it.
  5. `visible` says whether the kernel showed the caller among our own processes. From another pid namespace
     an ancestry proves nothing either way.

Not here: what a caller may do (daemon/api/permissions.py), tokens and marks (caller.py).
"""

import os

from msgspec import Struct, field

from headcount.agents.catalog import AGENTS
from headcount.core.state.world import World
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.report import Found
from headcount.core.values.session import Session
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.actor import Actor
from headcount.system.clock import Clock
from headcount.system.mount_namespaces import sees_ours
from headcount.system.processes import ancestry, descriptor_limits
from headcount.system.processes.boot_and_namespace import namespace_of
from headcount.system.processes.interface import Processes
from headcount.system.unix_peer import Peer

NOT_SEEN = "no descriptor was left to look at all that is above the caller"


class CallerAncestors(Struct):
    """What was seen of one connection's peer. Descent is by birth: it stays when a process in between ends."""

    chain: tuple[ProcessFacts, ...] = ()
    visible: bool = False
    environ: dict[int, dict[str, str]] = field(default_factory=dict)  # by pid: the marks each carries
    identities: tuple[ProcessIdentity, ...] = ()  # of the chain
    unmarked: bool = False  # every one of the chain was read, and none carries a mark
    person: Actor | None = None  # once it was found to be nobody but a person


class Lineage(Struct, frozen=True):
    chain: tuple[ProcessFacts, ...] = ()  # the caller first
    hosts: tuple[Session, ...] = ()  # the agents above, nearest first: one session of each process
    visible: bool = False
    why: str = ""  # when the caller was not seen

    @property
    def caller(self) -> ProcessIdentity | None:
        return self.chain[0].identity if self.chain else None


class Lineages:
    def __init__(self, processes: Processes, loop: Loop, clock: Clock) -> None:
        self._processes = processes
        self._loop = loop
        self._clock = clock
        self._uid = os.getuid()

    async def trace(self, peer: Peer | None, seen: CallerAncestors) -> Lineage:
        if seen.chain and peer is not None and not peer.has_ended():
            return Lineage(seen.chain, self._hosts(seen.chain), seen.visible)
        if peer is None:
            return Lineage(why="the transport does not name its peer")
        if peer.pid <= 0:
            return Lineage(why="the caller lives in a pid namespace that cannot be seen from here")
        facts = peer.look(self._processes)
        if facts is None:
            return Lineage(why="the caller was gone or unreadable before it could be asked")
        ours = self._is_ours(facts.pid)
        chain = self._chain(facts)
        if chain is None:
            return Lineage(why=NOT_SEEN)
        if peer.has_ended():
            return Lineage(why="the caller was gone before it could be asked")
        await self._introduce_all(chain)
        seen.chain, seen.visible = chain, ours
        seen.identities = tuple(facts.identity for facts in chain)
        return Lineage(chain, self._hosts(chain), ours)

    def _is_ours(self, pid: int) -> bool:
        """Whether the caller lives in our pid namespace. Doubt raises nobody's rights; where there are no
        namespaces there is no doubt."""
        place = self._processes.place()
        return place.namespace == 0 or namespace_of(pid) == place.namespace

    async def of(self, facts: ProcessFacts) -> Lineage:
        """Of a process that a caller names."""
        chain = self._chain(facts)
        if chain is None:
            return Lineage(why=NOT_SEEN)
        await self._introduce_all(chain)
        return Lineage(chain, self._hosts(chain), True)

    def _chain(self, facts: ProcessFacts) -> tuple[ProcessFacts, ...] | None:
        """None: for want of a descriptor some of it may not have been seen, and an agent may be among those."""
        before = descriptor_limits.count_met()
        chain = (facts, *ancestry.above(self._processes, facts))  # it was just looked at
        return chain if descriptor_limits.count_met() == before else None

    def _hosts(self, chain: tuple[ProcessFacts, ...]) -> tuple[Session, ...]:
        world, found = self._loop.world, []
        for facts in chain:
            process = facts.identity
            if process.pid in world.by_pid and facts.uid == self._uid and (host := host_of(world, process)):
                found.append(host)
        return tuple(found)

    async def _introduce_all(self, chain: tuple[ProcessFacts, ...]) -> None:
        for nth, facts in reversed(list(enumerate(chain))):  # outermost first: a child names its parent
            if facts.uid == self._uid and host_of(self._loop.world, facts.identity) is None:
                await self._introduce(facts, chain[nth + 1 :])

    async def _introduce(self, facts: ProcessFacts, above: tuple[ProcessFacts, ...]) -> None:
        agent = AGENTS.agent_of(facts)
        if agent is None:
            return
        parent = next((host.process for host in self._hosts(above)), None)
        cwd = facts.cwd if sees_ours(facts.identity) else None  # else by a report or a record
        await self._loop.ask(Found(agent.name, facts.identity, self._clock.now(), cwd, parent))


def hosted_by(world: World, process: ProcessIdentity) -> list[Session]:
    """All sessions that this very process hosts now, oldest first."""
    found = []
    for id in world.by_pid.get(process.pid, ()):
        session = world.sessions[id]
        is_its = session.process is not None and same_process(session.process, process) is Match.SAME
        if is_its and session.is_open:
            found.append(session)
    return found


def host_of(world: World, process: ProcessIdentity) -> Session | None:
    """The session that this very process hosts now; of several the one that opened last."""
    return next(reversed(hosted_by(world, process)), None)
