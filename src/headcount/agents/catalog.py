"""The agents that Headcount knows: its own, and those of installed packages.

Rules
  1. One line per agent of our own. This table lists all agents, and says to which one a process belongs.
  2. A package adds one by the entry point group `headcount.agents`: an object that fulfils the interface, or a class
     without arguments that makes one. They are loaded at the first use of the table, not at import.
  3. One that cannot be loaded, or has a name that is taken, is left out and named in `broken`. The others still work.

Not here: the interface (interface.py), containing the faults of a package's adapter (plugin_guard.py).
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from headcount.agents.claude_code.adapter import CLAUDE_CODE
from headcount.agents.codex.adapter import CODEX
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.interface import Agent
from headcount.agents.kit.labels import one_line
from headcount.agents.opencode.adapter import OPENCODE
from headcount.agents.plugin_guard import Guarded, why_unfit
from headcount.core.values.process import ProcessFacts

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "headcount.agents"

OWN: tuple[Agent, ...] = (CLAUDE_CODE, CODEX, OPENCODE, GEMINI)


class BrokenPlugin(Struct, frozen=True):
    """An adapter of a package that is not used, and why."""

    name: str
    why: str


class AgentCatalog(Mapping[str, Agent]):
    def __init__(self, own: Iterable[Agent], group: str = GROUP) -> None:
        self._own: dict[str, Agent] = {agent.name: agent for agent in own}
        self._group = group
        self._all: dict[str, Agent] | None = None
        self._broken: list[BrokenPlugin] = []

    @property
    def broken(self) -> tuple[BrokenPlugin, ...]:
        self._loaded()
        return tuple(self._broken)

    def agent_of(self, facts: ProcessFacts) -> Agent | None:
        """The agent whose session this process is, judged by the process alone; None: no agent's."""
        return next((agent for agent in self.values() if agent.recognise(facts)), None)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return any(agent.is_helper(facts) for agent in self.values())

    def is_agents(self, facts: ProcessFacts) -> bool:
        """Whether the process is an agent or an agent's helper."""
        return any(agent.recognise(facts) or agent.is_helper(facts) for agent in self.values())

    def runs(self, name: str | None, facts: ProcessFacts) -> bool:
        """Whether that process is a program of the agent of that name, or of any: its CLI, its helper, its launcher."""
        agents = self.values() if name is None else filter(None, [self.get(name)])
        return any(
            each.recognise(facts) or each.is_helper(facts) or each.is_launcher(facts) for each in agents
        )

    def __getitem__(self, name: str) -> Agent:
        return self._loaded()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def _loaded(self) -> dict[str, Agent]:
        if self._all is None:
            self._all = dict(self._own)
            for point in _points(self._group):
                self._add(point)
        return self._all

    def _add(self, point: "EntryPoint") -> None:
        assert self._all is not None
        brought = _brought(point)
        if isinstance(brought, BrokenPlugin):
            self._broken.append(brought)
        elif brought.name in self._all:
            self._broken.append(BrokenPlugin(_shown(point), f'the name "{brought.name}" is taken'))
        else:
            self._all[brought.name] = brought


def _points(group: str) -> "list[EntryPoint]":
    """The entry points. importlib.metadata costs a megabyte, so it is imported only if a package names the group."""
    try:
        if not is_named(group, sys.path):
            return []
        from importlib.metadata import entry_points

        return sorted(entry_points(group=group), key=lambda point: (point.name, point.value))
    except Exception:  # broken metadata of another package must not disable our own agents
        return []


def is_named(group: str, paths: Iterable[str]) -> bool:
    """Whether any package's metadata there names that entry point group; True if it cannot be read."""
    for place in map(Path, paths):
        if place.is_file():
            return True  # an archive: importlib.metadata can read it
        for file in place.glob("*.*-info/entry_points.txt"):
            try:
                if group in file.read_text(encoding="utf-8", errors="replace"):
                    return True
            except OSError:
                return True
    return False


def _brought(point: "EntryPoint") -> Agent | BrokenPlugin:
    try:
        made: Any = point.load()
        if isinstance(made, type):
            made = made()
        unfit = why_unfit(made)
        return BrokenPlugin(_shown(point), unfit) if unfit else Guarded(made)
    except BaseException as error:  # a foreign import may raise anything, SystemExit included
        if isinstance(error, KeyboardInterrupt):
            raise
        return BrokenPlugin(_shown(point), one_line(f"{type(error).__name__}: {error}"))


def _shown(point: "EntryPoint") -> str:
    return one_line(f"{point.name} ({point.value})")


AGENTS = AgentCatalog(OWN)
