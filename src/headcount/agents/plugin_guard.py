"""Guard an adapter from another package: if it raises or hangs it answers "nothing", and the fault is counted.

Rules
  1. Every method of the interface returns, whatever the adapter does. An answer of the wrong type counts as
     none.
  2. The adapter is called in a thread with a deadline, because most methods are called on the daemon's loop.
     Methods that read files have a thread of their own, so that a slow disk does not delay recognising
     processes.
  3. Fixed values (name, label, marks, hooks) are read once, at the start, and checked there.
  4. The last fault is kept as one line for `doctor`; nothing else is done about it.

Not here: the threads (bounded_thread.py); calls whose caller must see a fault (`unguarded`, with the deadline
in daemon/intake/ask_adapters.py); our own adapters, which are not guarded: their faults are bugs.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from headcount.agents.installing.file_change import HookFiles
from headcount.agents.interface import Agent, Hosted, Registry, Unread, WatchedDirectory
from headcount.agents.kit.labels import one_line
from headcount.agents.kit.transcripts import ConversationLine
from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Report
from headcount.times import ADAPTER_WITHIN, FOREIGN_WORD_WITHIN

T = TypeVar("T")

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
"""Names are used in paths, routes and command lines."""

WORDS = (
    "recognise",
    "is_helper",
    "is_launcher",
    "places",
    "hosted",
    "translate",
    "glimpse",
    "peek",
    "branches",
    "home_of",
    "resume",
    "unknown_fields",
)
READING = frozenset({"glimpse", "peek", "branches"})
FACTS = ("name", "label", "marks", "registry", "hooks", "follows")


def why_unfit(made: Any) -> str | None:
    """Why the object is not an adapter; None: it implements the interface."""
    missing = [word for word in FACTS if not hasattr(made, word)]
    missing += [word for word in WORDS if not callable(getattr(made, word, None))]
    if missing:
        return f"it has no {', '.join(missing)}"
    if not isinstance(made.name, str) or NAME.fullmatch(made.name) is None:
        return "its name is not made of a-z, 0-9 and dashes"
    if not isinstance(made.label, str) or not made.label.isprintable() or not made.label:
        return "its label is no printable text"
    return None


def unguarded(agent: Agent) -> Agent:
    """The adapter itself, for callers that use a thread of their own and must see its faults."""
    return agent._agent if isinstance(agent, Guarded) else agent


class Guarded:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name
        self.label = one_line(agent.label, 20)
        self.marks = frozenset(mark for mark in agent.marks if isinstance(mark, str))
        self.registry: Registry | None = agent.registry
        self.hooks: HookFiles | None = agent.hooks
        self.follows = agent.follows is True
        self._quick = BoundedThreads(f"adapter-{self.name}-quick", most=1)
        self._reading = BoundedThreads(f"adapter-{self.name}-reading", most=1)
        self.faults: Counter[str] = Counter()
        self.fault: str | None = None

    def recognise(self, facts: ProcessFacts) -> bool:
        return self._said("recognise", bool, lambda: self._agent.recognise(facts), False)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return self._said("is_helper", bool, lambda: self._agent.is_helper(facts), False)

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return self._said("is_launcher", bool, lambda: self._agent.is_launcher(facts), False)

    def places(self, env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
        none: list[WatchedDirectory] = []
        found = self._said("places", list, lambda: list(self._agent.places(env, home)), none)
        return [each for each in found if isinstance(each, WatchedDirectory)]

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
        found = self._agent.hosted(facts, files)
        return None if found is None else tuple(each for each in found if isinstance(each, Hosted))

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        failed: Report | Unread = Unread("its adapter failed")
        made = self._said("translate", object, lambda: self._agent.translate(payload, at, source), failed)
        if isinstance(made, Report) and made.agent == self.name:
            return made
        return made if isinstance(made, Unread) else failed

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        made = self._said("glimpse", object, lambda: self._agent.glimpse(path, conversation), None)
        return made if isinstance(made, Glimpse) and made.agent == self.name else None

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        made = self._said("peek", object, lambda: self._agent.peek(path, conversation, lines), None)
        return (
            [each for each in made if isinstance(each, ConversationLine)] if isinstance(made, list) else None
        )

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        none: list[dict[str, str]] = []
        return self._said("branches", list, lambda: self._agent.branches(path, conversation), none)

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        made = self._said("home_of", object, lambda: self._agent.home_of(cwd, transcript), cwd)
        return made if isinstance(made, str) else None

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        made = self._said("resume", object, lambda: self._agent.resume(conversation), None)
        fits = isinstance(made, tuple) and made and all(isinstance(word, str) for word in made)
        return made if fits and isinstance(made, tuple) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        none: tuple[str, ...] = ()
        found = self._said("unknown_fields", tuple, lambda: self._agent.unknown_fields(payload), none)
        return tuple(one_line(str(each), 40) for each in found[:8])

    def _said(self, word: str, kind: type, ask: Callable[[], T], otherwise: T) -> T:
        try:
            if word in READING:
                answer = self._reading.ask_blocking(ask, ADAPTER_WITHIN)
            else:
                answer = self._quick.ask_blocking(ask, FOREIGN_WORD_WITHIN)
            if isinstance(answer, kind):
                return answer
            why = f"answered with {type(answer).__name__}"
        except Late as late:
            why = str(late)
        except Exception as error:
            why = type(error).__name__  # not its message, which may quote what it read
        self.faults[word] += 1
        self.fault = one_line(f"{word}: {why}")
        return otherwise
