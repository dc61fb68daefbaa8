"""Find the process that a report came from, by the strongest evidence there is.

Rules
  1. The strongest evidence comes first: the socket's peer as the kernel names it, then the stat line that our
     hook wrote, then a pid that a header names. From each we walk up to the nearest process that the adapter
     recognises.
  2. A pid is not used if it is not plain digits, is 1, has ended, belongs to another user or is no agent. The
     report still counts, and its anchor says why the pid was not used.
  3. A walk stops at an agent's helper: an agent's background service is the child of whichever session
     happened to start it. A helper that hosts a session (a claimed spare) is that session's process.
  4. A process that is not found here has ended or lives in another pid namespace. Nothing is said about it
     unless it was known before.

Not here: recognising an agent (agents/), walking up (system/processes/ancestry.py), remembering the result
  (daemon/identity/reporting_process_cache.py).
"""

import os
from collections.abc import Callable
from itertools import chain

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Agent
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.report import ALONE, Anchor
from headcount.daemon.identity.reporting_process_cache import AgentAboveCache, AnchorCache
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import above
from headcount.system.processes.interface import Processes, ProcessGone, Unreadable
from headcount.system.processes.pidfds.calls import find_inode
from headcount.system.processes.procfs import TICKS
from headcount.system.unix_peer import Peer
from headcount.times import CLOCK_SLACK

PID_DIGITS_MOST = 10

Known = Callable[[ProcessIdentity], ProcessIdentity | None]
"""Finds the incarnation among those that sessions were ever bound to."""


class Anchors:
    def __init__(self, processes: Processes, clock: Clock, known: Known) -> None:
        self._processes = processes
        self._clock = clock
        self._known = known
        self._place = processes.place()
        self._uid = os.getuid()
        self._settled = AnchorCache(clock)
        self._overhead = AgentAboveCache(clock)

    def forget(self, process: ProcessIdentity) -> None:
        """It ended: what its pid and start meant must be asked again."""
        self._settled.forget(process.pid)

    # --- the rungs -----------------------------------------------------------------------------------

    def by_peer(self, agent: Agent, peer: Peer | None) -> Anchor:
        if peer is None:
            return _refused("peer", "no-peer", "the transport does not name its peer")
        inode = peer.inode()
        settled = self._settled.find((agent.name, "peer", peer.pid, inode)) if inode is not None else None
        if settled is not None and not peer.has_ended():
            return settled
        facts = peer.look(self._processes)
        if facts is None:
            return _refused(
                "peer", "caller-gone", "the caller was gone or unreadable before it could be asked"
            )
        anchor = self._nearest(agent, facts, "peer")
        if inode is not None and inode == facts.identity.inode:  # else inodes name nobody on this kernel
            self._settled.keep((agent.name, "peer", peer.pid, inode), anchor)
        return anchor

    def by_stat_line(self, agent: Agent, pid: int, started: int, written_at: float) -> Anchor:
        key = (agent.name, "stat line", pid, started)
        settled = self._settled.find(key)
        if settled is not None:
            return settled
        claimed = ProcessIdentity(self._place.boot, self._place.namespace, pid, started)
        booted_at = self._clock.now() - self._clock.boottime()
        if written_at < booted_at - CLOCK_SLACK:
            return _refused("stat line", "before-boot", "it was written before the machine was started")
        facts = self._processes.look(pid)
        if isinstance(facts, Unreadable):
            return _refused("stat line", "unreadable", f"pid {pid} cannot be read: {facts.why}")
        if isinstance(facts, ProcessGone) or same_process(facts.identity, claimed) is not Match.SAME:
            return self._not_here(claimed, facts)
        if agent.is_helper(facts) or agent.is_launcher(facts):
            # it ran our hook, so it hosts a session: a spare that was just claimed, or a CLI that started no other
            anchor = self.bound(facts, "stat line")
        else:
            anchor = self._nearest(agent, facts, "stat line")
        if anchor.alive:
            self._settled.keep(key, anchor)
        return anchor

    def by_header(self, agent: Agent, text: str) -> Anchor:
        pid = parse_pid(text)
        if pid is None:
            return _refused("header", "no-pid", "the header names no pid in plain digits")
        if pid <= 1:
            return _refused("header", "never-an-agent", f"pid {pid} is never an agent")
        seen = find_inode(pid)
        settled = self._settled.find((agent.name, "header", pid, seen)) if seen is not None else None
        if settled is not None:
            return settled
        facts = self._processes.look(pid)
        if isinstance(facts, ProcessGone):
            return _refused("header", "gone", f"no process has pid {pid}")
        if isinstance(facts, Unreadable):
            return _refused("header", "unreadable", f"pid {pid} cannot be read: {facts.why}")
        if facts.uid != self._uid:
            return _refused("header", "other-user", f"pid {pid} belongs to another user")
        if not agent.recognise(facts) and self._known(facts.identity) is None:
            return _refused("header", "not-an-agent", f"pid {pid} is not recognised as {agent.name}")
        anchor = self.bound(facts, "header")
        inode = facts.identity.inode
        if inode is not None:  # else inodes name nobody on this kernel
            self._settled.keep((agent.name, "header", pid, inode), anchor)
        return anchor

    # --- walking up ----------------------------------------------------------------------------------

    def _nearest(self, agent: Agent, start: ProcessFacts, by: str) -> Anchor:
        for facts in chain((start,), above(self._processes, start)):
            if facts.uid == self._uid and (agent.recognise(facts) or self._is_hosting_helper(facts)):
                return self.bound(facts, by)
            if AGENTS.is_helper(facts):
                return _refused(by, "helper", f"pid {facts.pid} is a helper of an agent and hosts no session")
        return _refused(by, "no-agent-above", f"no {agent.name} process above pid {start.pid}")

    def _is_hosting_helper(self, facts: ProcessFacts) -> bool:
        return AGENTS.is_helper(facts) and self._known(facts.identity) is not None

    def agent_above(self, facts: ProcessFacts) -> ProcessIdentity | None:
        passed: list[ProcessIdentity] = []
        found = None
        for each in above(self._processes, facts):
            ending = self._overhead.find(each.identity)
            if ending is not None:
                found = ending.agent
                break
            passed.append(each.identity)
            if each.uid != self._uid:
                continue
            if AGENTS.agent_of(each) is not None or self._is_hosting_helper(each):
                found = each.identity
                break
            if AGENTS.is_helper(each):
                break
        self._overhead.keep(passed, found)
        return found

    def bound(self, facts: ProcessFacts, by: str) -> Anchor:
        """A living process: with who is above it, and since when it runs. One that no adapter recognises is named by
        a file alone, and what follows from that is less (Session.is_only_named)."""
        how = by if AGENTS.runs(None, facts) else f"{by}{ALONE}"
        return Anchor(
            facts.identity, True, how, parent=self.agent_above(facts), began_at=self.began_at(facts.identity)
        )

    def began_at(self, process: ProcessIdentity) -> float | None:
        if process.started is None:
            return None
        return self._clock.now() - self._clock.boottime() + process.started / TICKS

    def _not_here(self, claimed: ProcessIdentity, there: ProcessFacts | ProcessGone) -> Anchor:
        known = self._known(claimed)
        if known is not None:
            return Anchor(known, False, "stat line")
        before = isinstance(there, ProcessFacts) and (there.identity.started or 0) < (claimed.started or 0)
        return Anchor(
            by="stat line",
            why=f"pid {claimed.pid} of then is not here: it ended, or it is in another pid namespace",
            code="not-here",
            elsewhere=before,
        )


def parse_pid(text: str) -> int | None:
    """Plain ASCII digits and nothing else: not `１２３`, `-1`, `True` or ` 12_3 ` (accident I8)."""
    if not text.isascii() or not text.isdigit() or len(text) > PID_DIGITS_MOST:
        return None
    return int(text)


def first_bound(*attempts: Callable[[], Anchor]) -> Anchor:
    """The first rung that binds; else one anchor that says why each did not."""
    refused: list[Anchor] = []
    for attempt in attempts:
        anchor = attempt()
        if anchor.process is not None:
            return anchor
        refused.append(anchor)
    why = "; ".join(f"{anchor.by}: {anchor.why}" for anchor in refused)
    last = refused[-1] if refused else Anchor()
    return _refused(last.by, last.code, why)


def _refused(by: str, code: str, why: str) -> Anchor:
    return Anchor(by=by, why=why, code=code)
