"""Processor time of a process and of what it started, under /proc.

Rules of this file
  1. Own time, the time of children that were reaped (which the kernel adds to their parent), and the same for living
     descendants: a tool that works is not silence.
  2. Bounded: so many processes and no more. A descendant that ends while it is read is left out.
  3. For a look once a minute, not for a top: nothing here is exact to a tick.

Not here: whose process it is (linux.py pins it), what little use means (daemon/observers/stalls.py).
"""

import os

PROCESSES_MOST = 256
TICKS = os.sysconf("SC_CLK_TCK")


def read_usage(pid: int) -> float | None:
    """Seconds; None: the process cannot be read."""
    own = _own(pid)
    if own is None:
        return None
    total, seen, waiting = own, {pid}, _children(pid)
    while waiting and len(seen) < PROCESSES_MOST:
        child = waiting.pop()
        if child not in seen:
            seen.add(child)
            total += _own(child) or 0.0
            waiting += _children(child)
    return total


def _own(pid: int) -> float | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return None
    after = line.rpartition(b")")[2].split()
    if len(after) < 15:
        return None
    return sum(int(field) for field in after[11:15]) / TICKS  # utime, stime, cutime, cstime


def _children(pid: int) -> list[int]:
    """By thread: each lists the processes that it started. Missing where the kernel was built without it."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            continue
    return found
