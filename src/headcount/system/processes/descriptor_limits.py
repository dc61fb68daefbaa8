"""Descriptor limits: how many descriptors are free, how many stay reserved, and how often one was missing.

Rules
  1. The soft limit is raised to the hard one, once: the low default is for programs that use select(2). A
     limit that is lowered afterwards is respected.
  2. The limit may change at any time (prlimit(2)), and so does what the daemon has open. Both are read anew
     each time.
  3. Where the kernel counts descriptors itself, counting needs none. If none is left, the count is zero.
  4. Code that finds no descriptor or memory while it reads a process calls `note` and goes on without.
  5. Code that must not take "not seen" for "not there" (who a caller is, what its environment holds) compares
     `count_met` before and after. A shortage met by another thread counts too: doubt never grants rights.

Not here: which watches are given up (pidfds/watches.py), what happens to a process that found no descriptor
(linux.py, polling.py).
"""

import errno
import os
import resource
from pathlib import Path

KEPT_FREE_MOST = 256
KEPT_FREE_SHARE = 4  # a quarter of all
KEPT_FREE_LEAST = 32
"""A caller takes two descriptors, a call of git or tmux nine, opening the store four, reading a process two: some of
each at once."""

OWN = Path("/proc/self/fd")

NOTHING_LEFT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})

_met = 0  # how often nothing was left


def raise_nofile() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        return  # macOS refuses an unlimited number; what there was still holds


def kept_free() -> int:
    """How many are never used for watching. Without them the daemon could not accept connections or read its mailbox."""
    return max(KEPT_FREE_LEAST, min(KEPT_FREE_MOST, _limit() // KEPT_FREE_SHARE))


def count_free() -> int:
    """How many more can be opened. Negative: the limit was lowered below what is open."""
    return _limit() - _in_use()


def _limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _in_use() -> int:
    """Open descriptors: the kernel's own count since Linux 6.2, else by listing them, else the lowest free number."""
    try:
        return OWN.stat().st_size or len(os.listdir(OWN)) - 1
    except OSError as error:
        return _limit() if error.errno == errno.EMFILE else _lowest_free()


def _lowest_free() -> int:
    """The lowest free number. Numbers are assigned lowest first, so at least that many are in use."""
    try:
        number = os.open("/", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _limit()
    os.close(number)
    return number


def note(error: OSError) -> None:
    global _met
    if error.errno in NOTHING_LEFT:
        _met += 1


def count_met() -> int:
    return _met
