"""Process identities, and the facts read about one process: a pid alone never identifies a process.

Rules
  1. An identity is a value. It can be stored, compared and sent; it cannot signal.
  2. A comparison gives SAME, DIFFERENT or UNKNOWN. A doubtful comparison is never treated as equal.
  3. Identities from different pid namespaces compare as UNKNOWN, whatever their numbers are.
  4. Facts and open files are read at the edge and verified to belong to one process. Code that judges them
     cannot ask for more.
  5. Only a lock that the kernel reports for this process counts. A lock file that merely exists proves nothing.

Not here: reading processes (system/processes), whether one is alive (core/values/verdict.py), what an open
  file means (agents/).
"""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct


class Match(Enum):
    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


class BootAndNamespace(Struct, frozen=True):
    """Where numbers like pids mean something: one boot of one machine, seen from one pid namespace."""

    machine: str
    boot: str
    namespace: int


class ProcessIdentity(Struct, frozen=True, omit_defaults=True):
    boot: str
    namespace: int
    pid: int
    started: int | None = None  # start time in clock ticks since boot: /proc/<pid>/stat field 22
    inode: int | None = None  # of the pidfd; unique per boot on Linux 6.9 and later


def same_process(a: ProcessIdentity, b: ProcessIdentity) -> Match:
    if a.boot != b.boot:
        return Match.DIFFERENT
    if a.namespace != b.namespace:
        return Match.UNKNOWN
    if a.pid != b.pid:
        return Match.DIFFERENT
    if a.inode is not None and b.inode is not None:  # strongest first
        return Match.SAME if a.inode == b.inode else Match.DIFFERENT
    if a.started is not None and b.started is not None:
        return Match.SAME if a.started == b.started else Match.DIFFERENT
    return Match.UNKNOWN


class ProcessFacts(Struct, frozen=True):
    """What one verified look at a living process showed. `argv` may hold a prompt: never store or log it."""

    identity: ProcessIdentity
    parent: int
    uid: int
    comm: str
    argv: tuple[str, ...]
    exe: str | None
    cwd: str | None = None

    @property
    def pid(self) -> int:
        return self.identity.pid


class OpenFile(Struct, frozen=True):
    path: str  # as the kernel names it; " (deleted)" at its end where it was removed
    locked: bool | None = None  # None: it could not be told who holds a lock


OpenFiles = tuple[OpenFile, ...]

Locks = Mapping[int, frozenset[int]] | None
"""The inodes that each pid holds a lock on, as the kernel said it once for many processes."""
