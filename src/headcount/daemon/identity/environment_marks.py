"""Marks of a caller: which session the environment of a re-parented process names, and whether that is so.

Rules
  1. The environment is read from the kernel by the daemon; a request cannot say what it is.
  2. A mark names a session only when its process is proven alive and hosts, or hosted until a swap, that
     conversation. A pid alone, or a conversation of a dead process, names nobody. Neither does a process that is younger
     than the carrier: it cannot have started it, also when it resumed the conversation of the one that did.
  3. Where one process hosts several sessions, a mark says which; without one nothing does.
  4. Whoever carries marks that name nobody is not a person at a terminal either, and is told how to be rid of them:
     what a process was started with stays with it, so that only a mark of the caller's own can be unset.

Not here: which variables those are (agents/kit/programs.py), what outranks them (caller.py).
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from headcount.agents.kit.programs import LAUNCHED, MARKS, NAMES, Mark
from headcount.core.sessions.descent import descends
from headcount.core.state.world import World
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.session import Session, SessionId
from headcount.core.values.verdict import Standing
from headcount.daemon.identity.caller_ancestry import CallerAncestors, host_of
from headcount.daemon.identity.reporting_process import parse_pid
from headcount.system.processes import descriptor_limits
from headcount.system.processes.interface import Processes


class Marked(Struct, frozen=True):
    """What the marks came to. Without a session `why` says what was wrong with them."""

    why: str
    session: Session | None = None
    way_out: str | None = None  # without a session: what makes such marks go


class Marks:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def read(self, seen: CallerAncestors, uid: int, world: World) -> Marked | None:
        """Of the nearest process that carries any; None: nobody does."""
        if seen.unmarked:
            return None
        for facts in seen.chain:
            found = self._carried(seen, facts, uid)
            if found is None:
                return Marked(f"no descriptor was left to read what pid {facts.pid} carries")
            if found:
                marked = self._weigh(found, facts.identity, world)
                return marked if marked.session else replace(marked, way_out=self._way_out(seen, found, uid))
        seen.unmarked = bool(seen.chain)
        return None

    def _way_out(self, seen: CallerAncestors, found: dict[str, str], uid: int) -> str:
        carriers = [facts.pid for facts in seen.chain if self._carried(seen, facts, uid)]
        if carriers == [seen.chain[0].pid]:
            return f"unset {' '.join(sorted(found))}"
        return f"use a shell that pid {carriers[-1]} did not start"

    def find_among(self, seen: CallerAncestors, uid: int, sessions: Sequence[Session]) -> Session | None:
        """Which of one process's sessions the marks of the caller name: of the nearest that carries any of that
        agent's. The process itself is above the caller already, so a mark need only agree with it."""
        for facts in seen.chain:
            if any(each.process == facts.identity for each in sessions):
                return None
            found = self._carried(seen, facts, uid) or {}
            for mark in (mark for mark in MARKS if mark.agent == sessions[0].agent):
                named = [each for each in sessions if each.conversation == found.get(mark.conversation)]
                if found.get(mark.conversation):
                    return named[0] if named and _agrees(mark, found, named[0]) else None
        return None

    def _carried(self, seen: CallerAncestors, facts: ProcessFacts, uid: int) -> dict[str, str] | None:
        """None: no descriptor was left to read it; the next request asks again."""
        if facts.pid not in seen.environ:
            before = descriptor_limits.count_met()
            carried = self._processes.environ(facts.identity, NAMES) if facts.uid == uid else {}
            if descriptor_limits.count_met() != before:
                return None
            seen.environ[facts.pid] = carried
        return seen.environ[facts.pid]

    def _weigh(self, found: dict[str, str], carrier: ProcessIdentity, world: World) -> Marked:
        weighed = [self._weigh_one(mark, found, carrier, world) for mark in MARKS if _is_named(mark, found)]
        named = {each.session.id: each for each in weighed if each.session is not None}
        inner = [each for each in named.values() if not _is_above(each, named, world)]
        if len(inner) == 1:
            return inner[0]
        if inner:
            return Marked(f"pid {carrier.pid} carries marks of several agents, and none is inside the other")
        if not weighed:
            return Marked(f"pid {carrier.pid} carries {LAUNCHED}, and its session's process is not above it")
        return Marked("; ".join(each.why for each in weighed))

    def _weigh_one(self, mark: Mark, found: dict[str, str], carrier: ProcessIdentity, world: World) -> Marked:
        conversation = found.get(mark.conversation)
        text = found.get(mark.pid) if mark.pid else None
        if not conversation:
            return Marked(f"{mark.pid} without {mark.conversation} names nobody")
        pid = parse_pid(text) if text else None
        if text and pid is None:
            return Marked(f"{mark.pid} is no pid in plain digits")
        sessions = [world.sessions[id] for id in world.by_conversation.get((mark.agent, conversation), ())]
        if not sessions:
            return Marked(f"no session has the conversation that {mark.conversation} names")
        living: dict[SessionId, Session] = {}
        for each in sessions:
            if each.process is None or pid not in (None, each.process.pid):
                continue
            if (each.process.started or 0) <= (carrier.started or 0) and self._lives(each, world):
                host = each if each.is_open else host_of(world, each.process)
                if host is not None:
                    living[host.id] = host
        if len(living) == 1:
            (host,) = living.values()
            return Marked(f"{mark.conversation} names it, and its process lives", host)
        if living:
            return Marked(f"the conversation that {mark.conversation} names is open in several processes")
        where = f"process {pid}" if pid else "process"
        return Marked(f"the {where} of the conversation that {mark.conversation} names does not host it now")

    def _lives(self, session: Session, world: World) -> bool:
        assert session.process is not None
        verdict = self._processes.prove(session.process, world.machine_of(session.process.boot))
        return verdict.standing is Standing.ALIVE


def _is_named(mark: Mark, found: dict[str, str]) -> bool:
    return bool(found.get(mark.conversation) or (mark.pid and found.get(mark.pid)))


def _agrees(mark: Mark, found: dict[str, str], session: Session) -> bool:
    """Whether the mark's pid, where it has one, is that of the session's process."""
    text = found.get(mark.pid) if mark.pid else None
    return text is None or (session.process is not None and parse_pid(text) == session.process.pid)


def _is_above(marked: Marked, named: dict[SessionId, Marked], world: World) -> bool:
    """Whether another of those named was started inside it."""
    assert marked.session is not None and marked.session.process is not None
    process = marked.session.process
    return any(
        each.session is not None and descends(each.session, process, world.sessions)
        for each in named.values()
    )
