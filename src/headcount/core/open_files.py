"""What a living process has open: paths, and which of them it has locked.

Rules of this file
  1. A value, read by the edge and verified to be of one incarnation. Whoever judges it cannot ask for more.
  2. A lock is the kernel's word that this very process took it: a lock file that merely exists says nothing.

Not here: how it is read (system/processes), what it means (agents/).
"""

from collections.abc import Mapping

from msgspec import Struct


class OpenFile(Struct, frozen=True):
    path: str  # as the kernel names it; " (deleted)" at its end where it was removed
    locked: bool | None = None  # None: it could not be told who holds a lock


OpenFiles = tuple[OpenFile, ...]

Locks = Mapping[int, frozenset[int]] | None
"""The inodes that each pid holds a lock on, as the kernel said it once for many processes."""
