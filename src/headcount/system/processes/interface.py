"""The interface to processes: read one, prove one alive or dead, watch one.

Rules
  1. `look` verifies after reading: everything it returns belongs to one live incarnation.
  2. `prove` and `watch` never take doubt for death. No descriptor left, no permission, another namespace:
     UNKNOWN, and the adapter keeps polling by itself.
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
"""Called with the identity that was passed to `watch`, and a DEAD verdict with its exit."""


class Processes(Protocol):
    @property
    def name(self) -> str: ...  # "linux", "portable"

    def place(self) -> BootAndNamespace: ...

    def look(self, pid: int) -> Look: ...

    def glance(self, pid: int) -> object | None:
        """A cheap check, a tenth of the cost of `look`: a value that stays equal while the same incarnation runs the
        same program, so that `look` can be skipped; None: unknown, call `look`."""
        ...

    def pids(self) -> Iterable[int]:
        """Pids that exist now, of any user. A missing one proves nothing."""
        ...

    def parent(self, identity: ProcessIdentity) -> int | None:
        """The present parent pid of exactly that process; None: it ended, the pid was reused, or it is unreadable."""
        ...

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        """The named variables of exactly that process, read and then verified; empty if unreadable."""
        ...

    def cpu_time(self, identity: ProcessIdentity) -> float | None:
        """Seconds of processor time of exactly that process and its descendants, ended children included. It may shrink
        when a descendant is re-parented. None: it ended, the pid was reused, or it is unreadable."""
        ...

    def locks(self) -> Locks:
        """Which process holds which lock now: one read, for `open_files` of many processes. Empty: not available here."""
        ...

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        """The open files of exactly that process, read and then verified, and which of them it has locked; None: it
        ended, the pid was reused, or it is not ours to read."""
        ...

    def children(self, identity: ProcessIdentity) -> tuple[int, ...]:
        """Pids of the present children of exactly that process. A missing one proves nothing."""
        ...

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        """Pids of our user whose environment has any of these variables, with their values. A hint, to be verified by
        `environ`. It reads every process, so run it in a thread."""
        ...

    def hold(self, identity: ProcessIdentity) -> "ProcessHandle | NotHeld":
        """A handle of exactly that process, for signalling; the caller closes it. Or why there is none."""
        ...

    def prove(self, identity: ProcessIdentity, remembered_machine: str) -> Verdict: ...

    def watch(self, identity: ProcessIdentity, on_death: OnDeath) -> Verdict:
        """ALIVE or UNKNOWN: watched from now on (UNKNOWN: until it is decided). DEAD: it had already ended and
        `on_death` will not be called."""
        ...

    def unwatch(self, identity: ProcessIdentity) -> None: ...

    def is_told(self, identity: ProcessIdentity) -> bool:
        """Whether a kernel watch is open and has not reported its end: then the pid is still its own. Thread-safe."""
        ...

    def watched(self) -> int: ...

    def polled(self) -> int:
        """How many watched processes are polled every second instead of having a kernel watch."""
        ...

    def make_room(self, *, none_left: bool = False) -> int:
        """If few descriptors are left (or `none_left`: a caller found none), poll some watched processes instead.
        Returns how many watches were given up. They return when there is room."""
        ...

    def is_short(self) -> bool:
        """Whether some are polled because few descriptors are left."""
        ...

    def close(self) -> None: ...
