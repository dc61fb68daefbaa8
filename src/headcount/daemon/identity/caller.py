"""The actor: who is calling, one answer a request, made at the edge while the caller waits.

Rules
  1. In this order: the kernel's word on the caller's ancestors, a token, the marks in the caller's
     environment. The operator is whoever none of these concerns.
  2. A token must agree with what the kernel shows. It names a session only where the kernel shows nothing.
  3. Each rung says whether it was taken and why. Terminal, port, directory and "the newest" are no rungs.
  4. Where the nearest agent's process has several sessions open, the caller's marks say in which it is; without
     them it is refused, with the candidates.
  5. Marks count only where the kernel shows the caller among our own processes.
  6. Whoever carries an agent's credential or marks that do not hold is nobody: neither that agent nor a person.

Not here: what an actor may do (daemon/api/permissions.py), walking up (caller_ancestry.py), marks (environment_marks.py), tokens (tokens.py).
"""

import os
from functools import lru_cache

from msgspec import Struct

from headcount.agents.catalog import AGENTS
from headcount.agents.kit.programs import LAUNCHED
from headcount.core.sessions.descent import descends, is_of
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.session import Session
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.actor import Actor, ActorKind, Rung
from headcount.daemon.identity.caller_ancestry import CallerAncestors, Lineage, Lineages, host_of, hosted_by
from headcount.daemon.identity.environment_marks import Marked, Marks
from headcount.daemon.identity.tokens import SessionTokens
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes
from headcount.system.unix_peer import Peer

SCHEME = "headcount-session "
WITHOUT_TOKEN = f"unset {LAUNCHED}"
OUTSIDE = "run it outside of this sandbox or container"
MARKS_ELSEWHERE = "the caller lives in another pid namespace, where marks name nobody: a token is needed"
RUNGS_KEPT = 256  # most callers are passed by for the same few reasons


A_PERSON = Rung("operator", True, "the kernel shows the caller, and no agent is above it")

A_PAGE = Actor(
    ActorKind.PAGE,
    (Rung("page", True, "the credential of a tab that the operator opened"),),
    resolved_by="page",
)


@lru_cache(maxsize=RUNGS_KEPT)
def passed_by(name: str, why: str) -> Rung:
    return Rung(name, False, why)


class _Case(Struct):
    """What is known of one caller while its rungs are climbed."""

    lineage: Lineage
    marked: Marked | None
    rungs: list[Rung]
    session: Session | None = None
    by: str | None = None
    refusal: str | None = None
    way_out: str | None = None

    def take(self, name: str, session: Session, why: str) -> None:
        self.session, self.by = session, name
        self.rungs.append(Rung(name, True, why, session.id))

    def pass_by(self, name: str, why: str) -> None:
        self.rungs.append(passed_by(name, why))

    def refuse(self, name: str, why: str, way_out: str | None = None) -> None:
        self.refusal, self.way_out = why, way_out
        self.rungs.append(Rung(name, False, why))


class Actors:
    def __init__(self, processes: Processes, loop: Loop, clock: Clock, tokens: SessionTokens) -> None:
        self.lineages = Lineages(processes, loop, clock)
        self._processes = processes
        self._marks = Marks(processes)
        self._loop = loop
        self._tokens = tokens
        self._uid = os.getuid()

    async def resolve(self, peer: Peer | None, authorization: str | None, seen: CallerAncestors) -> Actor:
        """`seen` is of the connection: its first request fills it."""
        lineage, token = await self.lineages.trace(peer, seen), offered(authorization)
        if seen.person is not None and lineage.chain and not lineage.hosts and token is None:
            return seen.person  # it still lives, no agent came above it, and it offers nothing new
        marked = None if lineage.hosts else self._marks.read(seen, self._uid, self._loop.world)
        case = _Case(lineage, marked, [])
        self._by_peer(case, seen)
        self._by_token(case, token)
        self._by_marks(case)
        actor = _concluded(case, self._loop)
        if actor.kind is ActorKind.OPERATOR:
            seen.person = actor
        return actor

    async def started(self, process: ProcessIdentity, session: Session) -> bool:
        """Whether that agent process launched the session, or stands above it: as recorded, as the kernel shows it
        now, or by the marks that a re-parented session was started with."""
        world = self._loop.world
        if descends(session, process, world.sessions):
            return True
        if session.process is None or is_of(session, process):
            return False
        facts = self._processes.look(session.process.pid)
        if not isinstance(facts, ProcessFacts) or not is_of(session, facts.identity):
            return False
        lineage = await self.lineages.of(facts)
        helper = next((each for each in lineage.chain[1:] if self._is_idle_helper(each)), None)
        chain = lineage.chain[: lineage.chain.index(helper)] if helper else lineage.chain
        if any(same_process(each.identity, process) is Match.SAME for each in chain[1:]):
            return True
        marked = self._marks.read(CallerAncestors(chain=chain), self._uid, world)
        above = marked.session if marked else None
        return above is not None and (is_of(above, process) or descends(above, process, world.sessions))

    def _is_idle_helper(self, facts: ProcessFacts) -> bool:
        """An agent's background service is the child of whichever session happened to start it: what runs below the
        service is not below that session."""
        return AGENTS.is_helper(facts) and host_of(self._loop.world, facts.identity) is None

    def count_inheritance(self, rung: str) -> None:
        self._loop.counts[f"inheritance_refused:{rung}"] += 1

    def _by_peer(self, case: _Case, seen: CallerAncestors) -> None:
        lineage = case.lineage
        if not lineage.hosts:
            case.pass_by(
                "peer", f"no agent is above pid {lineage.chain[0].pid}" if lineage.chain else lineage.why
            )
            return
        host = lineage.hosts[0]
        assert host.process is not None
        nearest = f"its process {host.process.pid} is the nearest agent above the caller"
        sessions = hosted_by(self._loop.world, host.process)
        if len(sessions) <= 1:
            case.take("peer", host, nearest)
            return
        chosen = self._marks.find_among(seen, self._uid, sessions)
        if chosen is not None:
            case.take("peer", chosen, f"{nearest}, and the caller's marks name this of its sessions")
        else:
            ids = ", ".join(each.id[:4] for each in sessions)
            case.refuse(
                "peer",
                f"process {host.process.pid} has {len(sessions)} sessions open ({ids}), "
                "and nothing says which of them the caller is in",
            )

    def _by_token(self, case: _Case, token: str | None) -> None:
        if token is None:
            case.pass_by("token", "none was offered")
            return
        known = self._tokens.find(token)
        if known is None or known.is_over:
            why = "the token is not known here" if known is None else "the process of its session is over"
            if known is not None:
                self.count_inheritance("token")
            if case.session is not None:
                case.pass_by("token", f"{why}; the kernel's word stands without it")
            else:
                case.refuse("token", f"{why}, and nobody inherits it", WITHOUT_TOKEN)
        elif case.lineage.hosts:
            self._beside_kernel(case, known.process)
        elif case.lineage.visible:
            self._beside_marks(case, known.process)
        else:
            self._alone(case, known.process)

    def _beside_kernel(self, case: _Case, process: ProcessIdentity) -> None:
        above = [is_of(host, process) for host in case.lineage.hosts]
        if any(above):
            agrees = "it agrees with the kernel" if above[0] else "it is of an agent further up"
            case.pass_by("token", f"{agrees}; not needed")
        else:
            self.count_inheritance("token")
            why = "the token is another session's: that process is not above the caller"
            case.refuse("token", why, WITHOUT_TOKEN)

    def _beside_marks(self, case: _Case, process: ProcessIdentity) -> None:
        session = case.marked.session if case.marked else None
        if session is not None and is_of(session, process):
            case.pass_by("token", "it agrees with the marks of the caller")
        else:
            self.count_inheritance("token")
            why = "the kernel shows the caller, and the token's process is not above it"
            case.refuse("token", why, WITHOUT_TOKEN)

    def _alone(self, case: _Case, process: ProcessIdentity) -> None:
        session = host_of(self._loop.world, process)
        if session is None:
            case.refuse("token", "the token's process hosts no session now", WITHOUT_TOKEN)
        else:
            case.take(
                "token", session, "the caller's ancestry cannot be seen, so the token names the session"
            )

    def _by_marks(self, case: _Case) -> None:
        marked = case.marked
        if case.session is not None:
            case.pass_by("environment", "not asked: stronger evidence names the session")
        elif marked is None:
            case.pass_by("environment", "the caller carries no agent's marks")
        elif marked.session is None:
            self.count_inheritance("environment")
            case.refuse("environment", marked.why, marked.way_out)
        elif case.refusal is not None:
            case.pass_by("environment", "not taken beside a token that was refused")
        elif not case.lineage.visible:  # anyone in a container can read a conversation's id and set it
            self.count_inheritance("environment")
            case.refuse("environment", MARKS_ELSEWHERE)
        else:
            case.take("environment", marked.session, marked.why)


def offered(authorization: str | None) -> str | None:
    """The token in an Authorization header of ours."""
    if authorization is None or not authorization.lower().startswith(SCHEME):
        return None
    return authorization[len(SCHEME) :].strip()


def _concluded(case: _Case, loop: Loop) -> Actor:
    lineage = case.lineage
    if case.refusal is not None:
        case.pass_by("operator", "what was offered did not hold, so this is not a person's shell either")
        rungs, caller = tuple(case.rungs), lineage.caller
        return Actor(ActorKind.NOBODY, rungs, caller=caller, refusal=case.refusal, way_out=case.way_out)
    if case.session is not None:
        case.pass_by("operator", "the caller is inside an agent")
        return _agent(case, case.session, loop)
    if not lineage.visible:
        why = lineage.why or "the caller lives in another pid namespace"
        case.pass_by("operator", f"{why}: it cannot be told from an agent's child")
        way_out = OUTSIDE if "namespace" in why else None
        return Actor(ActorKind.NOBODY, tuple(case.rungs), caller=lineage.caller, refusal=why, way_out=way_out)
    case.rungs.append(A_PERSON)
    return Actor(ActorKind.OPERATOR, tuple(case.rungs), caller=lineage.caller, resolved_by="operator")


def _agent(case: _Case, session: Session, loop: Loop) -> Actor:
    above = tuple(host.process for host in case.lineage.hosts[1:] if host.process is not None)
    if case.by != "peer":
        above = _remembered_above(session, loop)
    return Actor(
        ActorKind.DESCENDANT if above else ActorKind.AGENT,
        tuple(case.rungs),
        session.id,
        session.process,
        case.lineage.caller,
        case.by,
        above,
    )


def _remembered_above(session: Session, loop: Loop) -> tuple[ProcessIdentity, ...]:
    """Where the kernel no longer shows the way up, it was seen when the session began."""
    found: list[ProcessIdentity] = []
    parent = session.parent
    while parent is not None and (above := loop.world.sessions.get(parent)) is not None:
        if above.process is not None:
            found.append(above.process)
        parent = above.parent
    return tuple(found)
