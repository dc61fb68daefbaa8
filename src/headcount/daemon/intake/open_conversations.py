"""Hosting: which conversations living processes have open, by what the kernel says of their files.

Rules
  1. The edge reads what a process has open and hands it to the adapter, which names conversations. What is named
     is a record like a registry's: added, never subtracted.
  2. A process whose files are the same as at the last look is not asked again: an idle agent costs no read.
  3. A helper that has several conversations open, and is seen with all its files but one of them no more, has closed
     it: that is the kernel's word on a living process, not an absence from a list (decision 0028).
  4. Of an agent that has one conversation a process, two at once are no answer.

Not here: which processes there are (census.py), the deadline (ask_adapters.py), what follows (core/sessions/apply_report.py).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from headcount.agents.interface import Agent, Hosted, WatchedDirectory
from headcount.core.values.evidence import ConversationClosed
from headcount.core.values.process import Match, OpenFiles, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.report import Details, Record
from headcount.core.values.session import Session
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes

Answer = list[tuple[ProcessFacts, OpenFiles, tuple[Hosted, ...]]]


class OpenConversations:
    def __init__(
        self,
        loop: Loop,
        processes: Processes,
        anchors: Anchors,
        clock: Clock,
        adapters: Adapters,
        spaces: HostPaths,
    ) -> None:
        self.spaces = spaces
        self._loop = loop
        self._processes = processes
        self._anchors = anchors
        self._clock = clock
        self._adapters = adapters
        self._places: dict[str, list[WatchedDirectory]] = {}
        self._files: dict[
            ProcessIdentity, OpenFiles
        ] = {}  # as they were when the adapter last said what they mean
        self.asked = 0

    def open(self, agents: Mapping[str, Agent], env: Mapping[str, str], home: Path) -> None:
        for name, agent in agents.items():
            places = agent.places(env, home)
            if places:
                self._places[name] = places

    def places(self) -> dict[str, list[WatchedDirectory]]:
        return self._places

    def is_asked(self, agent: str) -> bool:
        return agent in self._places

    async def ask(self, agent: Agent, processes: Sequence[ProcessFacts]) -> list[Record | ConversationClosed]:
        """What is new of what these processes have open."""
        began = self._clock.now()
        answer = await self._adapters.ask(agent.name, lambda: self._look(agent, processes))
        news: list[Record | ConversationClosed] = []
        for facts, files, hosted in answer or ():
            self._files[facts.identity] = files
            news += [await self.spaces.placed(each) for each in self._records(agent, facts, hosted)]
            news += self._closed(agent, facts, hosted, began)
        return news

    def forget_all_but(self, living: set[ProcessIdentity]) -> None:
        self._files = {process: files for process, files in self._files.items() if process in living}

    def _look(self, agent: Agent, processes: Sequence[ProcessFacts]) -> Answer:
        found: Answer = []
        locks = self._processes.locks()
        for facts in processes:
            files = self._processes.open_files(facts.identity, locks)
            if files is not None and files != self._files.get(facts.identity):
                self.asked += 1
                hosted = agent.hosted(facts, files)
                if hosted is not None:
                    found.append((facts, files, hosted))
        return found

    def _records(self, agent: Agent, facts: ProcessFacts, hosted: tuple[Hosted, ...]) -> list[Record]:
        if len(hosted) > 1 and not all(each.beside for each in hosted):
            self._loop.counts["hosted_ambiguously"] += 1
            return []
        now = self._clock.now()
        return [
            Record(
                agent=agent.name,
                conversation=each.conversation,
                at=now,
                status=None,
                waiting_on=None,
                details=Details(cwd=each.cwd, name=each.name, transcript=each.transcript),
                anchor=self._anchors.bound(facts, each.by),
                written_at=now,
                beside=each.beside,
            )
            for each in hosted
            if self._is_news(facts.identity, each)
        ]

    def _closed(
        self, agent: Agent, facts: ProcessFacts, hosted: tuple[Hosted, ...], began: float
    ) -> list[ConversationClosed]:
        """Whatever was heard of since the look began may have been opened after it."""
        if not agent.is_helper(facts):
            return []  # a process that is one conversation ends with it
        still = {each.conversation for each in hosted}
        return [
            ConversationClosed(agent.name, session.conversation, facts.identity, began)
            for session in self._sessions_of(facts.identity)
            if session.conversation is not None
            and session.agent == agent.name
            and session.conversation not in still
            and max(session.last_event_at, session.hosted_at) < began
        ]

    def _sessions_of(self, process: ProcessIdentity) -> list[Session]:
        world = self._loop.world
        known = (world.sessions[id] for id in world.by_pid.get(process.pid, ()))
        return [
            each
            for each in known
            if each.is_open and each.process and same_process(each.process, process) is Match.SAME
        ]

    def _is_news(self, process: ProcessIdentity, hosted: Hosted) -> bool:
        for session in self._sessions_of(process):
            if session.conversation == hosted.conversation:
                return hosted.transcript is not None and session.transcript is None
        return True
