"""Hardly a descriptor left: in this process for a while, or in a running daemon.

Rules of this file
  1. The limit is the kernel's (prlimit(2)), and is put back.
"""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def limit(*, left: int) -> Iterator[None]:
    """Of this process, lowered while it runs, as by prlimit(1), so that so many can still be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(_in_use(os.getpid()))
    fillers = [os.open("/dev/null", os.O_RDONLY)]
    while fillers[-1] <= highest:  # the gaps
        fillers.append(os.open("/dev/null", os.O_RDONLY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (fillers[-1] + 1 + left, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for each in fillers:
            os.close(each)


def lower(pid: int, fill_a_gap: Callable[[], object]) -> int:
    """Of another process: to the numbers that it has in use. Those that it does not use between them must be filled first,
    for they would be given to the next who asks."""
    while len(numbers := _in_use(pid)) <= max(numbers):
        fill_a_gap()
    limit = len(numbers)
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))
    return limit


def lift(pid: int, to: int | None = None) -> None:
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (to or hard, hard))


def _in_use(pid: int) -> set[int]:
    return {int(each) for each in os.listdir(f"/proc/{pid}/fd")}
