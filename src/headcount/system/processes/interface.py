"""The interface to processes: look at one, prove one, watch one.

Rules
  1. `look` is verified after reading: what it returns belonged to one living incarnation.
  2. `prove` and `watch` never take doubt for death. No descriptor left, no permission, another namespace:
     UNKNOWN, and the adapter keeps looking by itself.
  3. Each death is reported exactly once, by `on_death`, on the daemon's event loop.

Implementations: linux.py, portable.py, and the fake kernel of the tests; one contract suite runs on all.
Not here: choosing the implementation (choose.py).
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from headcount.core.values.process import BootAndNamespace, Locks, OpenFiles, ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Verdict
from headcount.system.processes.procfs import ProcessGone as ProcessGone
from headcount.system.processes.procfs import Unreadable as Unreadable

if TYPE_CHECKING:
    from headcount.system.processes.pidfds.handle import NotHeld, ProcessHandle


Look = ProcessFacts | ProcessGone | Unreadable

OnDeath = Callable[[ProcessIdentity, Verdict], None]
"""Called with the identity as it was given to `watch`, and a DEAD verdict with its exit."""


class Processes(Protocol):
    @property
    def name(self) -> str: ...  # "linux", "portable"

    def place(self) -> BootAndNamespace: ...

    def look(self, pid: int) -> Look: ...

    def glance(self, pid: int) -> object | None:
        """A tenth of a look: a value that stays equal while the same incarnation runs the same program, so
        that it need not be looked at again; None: it cannot be told, look."""
        ...

    def pids(self) -> Iterable[int]:
        """Pids that exist now, of any user. A missing one proves nothing."""
        ...

    def parent(self, identity: ProcessIdentity) -> int | None:
        """The parent pid of that very process now; None: it is over, another, or unreadable."""
        ...

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        """The named variables of that very process, read and then verified; empty when unreadable."""
        ...

    def cpu_time(self, identity: ProcessIdentity) -> float | None:
        """Seconds of processor time of that very process and of what it started, ended children included; it
        may shrink when a descendant goes elsewhere. None: it is over, another, or unreadable."""
        ...

    def locks(self) -> Locks:
        """Who holds which lock now: one read, for whoever asks for the open files of many. Empty: not told here."""
        ...

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        """What that very process has open, read and then verified, and which of it stands among its locks; None:
        over, another, or not ours to read."""
        ...

    def children(self, identity: ProcessIdentity) -> tuple[int, ...]:
        """Pids below that very process now, one step. A missing one proves nothing."""
        ...

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        """Pids of our user whose environment has any of these variables, with them. A hint, to be verified by
        `environ`; it reads every process, so it is for a thread."""
        ...

    def hold(self, identity: ProcessIdentity) -> "ProcessHandle | NotHeld":
        """A handle of that very process, to be signalled through and closed; or why there is none here."""
        ...

    def prove(self, identity: ProcessIdentity, remembered_machine: str) -> Verdict: ...

    def watch(self, identity: ProcessIdentity, on_death: OnDeath) -> Verdict:
        """ALIVE or UNKNOWN: watched from now on (UNKNOWN: until it is settled). DEAD: it was already over
        and `on_death` will not be called."""
        ...

    def unwatch(self, identity: ProcessIdentity) -> None: ...

    def is_told(self, identity: ProcessIdentity) -> bool:
        """Whether it is watched by the kernel, which has not told of its end: then its number is its own. Any thread
        may ask."""
        ...

    def watched(self) -> int: ...

    def polled(self) -> int:
        """How many of the watched are looked at every second instead of being told by the kernel."""
        ...

    def make_room(self, *, none_left: bool = False) -> int:
        """Where few descriptors are left, or none by the word of whoever found none, some of the watched are looked
        at every second instead; how many were given up for it. They return when there is room."""
        ...

    def is_short(self) -> bool:
        """Whether some are polled because few descriptors are left."""
        ...

    def close(self) -> None: ...
