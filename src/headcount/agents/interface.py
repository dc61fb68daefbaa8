"""The interface of an adapter: what it must be able to answer about an agent.

Rules
  1. Everything an agent sends is untrusted until it is parsed: no method here raises on bad input.
  2. An adapter translates. It never decides who is alive, and it never asks the kernel itself.
  3. Reports leave with an empty anchor: the edge establishes which process sent one.
  4. What an agent cannot do is None or empty; no caller asks which agent it is.

Implementations: claude_code/, codex/, opencode/, gemini/, and those that the entry point `headcount.agents` names. The
table of them is catalog.py; docs/guide/adapters.md has the contract with an example.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from headcount.agents.installing.file_change import HookFiles
from headcount.agents.kit.transcripts import ConversationLine
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Anchor, Record, Report


class Unread(Struct, frozen=True):
    """A payload that cannot become a report: not a JSON object, or without a usable conversation id."""

    why: str


class RegistryEntry(Struct, frozen=True):
    """One session in an agent's own registry, as read: a hint until the kernel confirms its process."""

    pid: int
    started: int | None  # start ticks it recorded for itself; None: not recorded on this platform or version
    namespace: int | None  # the pid namespace it recorded
    conversation: str
    is_session: bool  # False: a daemon, a spare, or another of the agent's own services
    machine: str | None = None  # the machine it recorded
    cwd: str | None = None
    status: str | None = None
    waiting_for: str | None = None
    status_at: float | None = None  # by the agent's clock
    opened_at: float | None = None
    written_at: float = 0.0  # of the file
    name: str | None = None
    version: str | None = None
    kind: str | None = None
    entrypoint: str | None = None
    tmux: str | None = None
    transcript: str | None = None  # where the conversation is written, if it is
    unknown: tuple[str, ...] = ()  # fields and statuses that no table knows


class WatchedDirectory(Struct, frozen=True):
    """A directory of the agent that changes when its sessions do: a hint to read again."""

    directory: Path


class Hosted(Struct, frozen=True):
    """A conversation that a live process has open, as shown by its open files."""

    conversation: str
    transcript: str | None = None
    by: str = "open file"  # what shows it: "open file", "lock", "database"
    cwd: str | None = None
    name: str | None = None
    beside: bool = False  # its process may have several open at once: this one does not supersede the others


class Registry(Protocol):
    """An agent's own list of its live sessions: one file a process, in a directory under each root."""

    def roots(self, env: Mapping[str, str], home: Path) -> list[Path]:
        """The agent's own places, several at once when so configured; they need not exist."""
        ...

    def directory(self, root: Path) -> Path:
        """Where under a root the registry files are: what to watch."""
        ...

    def is_entry_name(self, name: str) -> bool: ...

    def read(self, path: Path) -> RegistryEntry | None:
        """None: not there, not ours, or not whole yet. None is no sign of death."""
        ...

    def names(self, entry: RegistryEntry, facts: ProcessFacts) -> bool:
        """Whether the entry describes this process: pid, start and namespace match the kernel's."""
        ...

    def record(self, entry: RegistryEntry, anchor: Anchor) -> Record: ...


class Agent(Protocol):
    @property
    def name(self) -> str: ...  # "claude-code"

    @property
    def label(self) -> str:
        """What people see: `claude`."""
        ...

    @property
    def marks(self) -> frozenset[str]:
        """Environment names that the agent gives to its descendants."""
        ...

    @property
    def registry(self) -> Registry | None: ...

    @property
    def hooks(self) -> HookFiles | None:
        """How our hooks are installed; None: this agent has none."""
        ...

    @property
    def follows(self) -> bool:
        """Whether to read its transcript whenever it grows: it shows the turn's state even without hooks."""
        ...

    def places(self, env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
        """Directories where a change is a hint to call `hosted` again. Empty: `hosted` is never called."""
        ...

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
        """All conversations that this live process has open; None: its files do not show it, which is not the same
        as none. Runs in a thread, under a time limit."""
        ...

    def recognise(self, facts: ProcessFacts) -> bool:
        """Whether the process is a session, judged by the process alone. Helpers are not."""
        ...

    def is_helper(self, facts: ProcessFacts) -> bool:
        """The agent's program, but no session (until the registry names that very process)."""
        ...

    def is_launcher(self, facts: ProcessFacts) -> bool:
        """The agent's program in the form that starts the session's process and waits for it. The daemon
        skips it, unless it runs our hook itself: then it is the session (a CLI told not to start another)."""
        ...

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread: ...

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        """What the end of that conversation's transcript shows; a bounded read. None: nothing to read."""
        ...

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        """The last lines of that conversation, for a person; a bounded read. None: nothing to read."""
        ...

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        """The leaves of the conversation's transcript (several: it forked), each with its time; a bounded read."""
        ...

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        """The agent's own command that resumes the conversation; None: the id has the wrong form and must not reach an
        argv, a path or a terminal."""
        ...

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        """The directory in which that command finds the conversation; `cwd` is where its session last was."""
        ...

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        """Fields and values that no table knows, the event's name first. For counting."""
        ...
