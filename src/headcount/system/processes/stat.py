"""One line of /proc/<pid>/stat, taken apart (proc_pid_stat(5)).

Rules of this file
  1. The name may hold spaces and parentheses: it ends at the last one.
  2. A line that is not whole or not numbers is no line. It is never half believed.
  3. `has_ended` needs state Z or X *and* no other thread: a process whose main thread ended is a Z
     that lives on.

Not here: reading the file (procfs.py).
"""

from msgspec import Struct

ENDED_STATES = frozenset("ZXx")


class StatLine(Struct, frozen=True):
    pid: int
    comm: str
    state: str
    parent: int
    threads: int
    started: int  # clock ticks since boot
    exit_status: int | None  # as wait(2) gives it; only shown to those who may trace the process

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED_STATES and self.threads <= 1


def parse_stat(line: bytes) -> StatLine | None:
    head, opened, rest = line.partition(b"(")
    comm, closed, tail = rest.rpartition(b")")
    after = tail.split()
    if not (opened and closed) or len(after) < 20 or not head.strip().isdigit():
        return None
    try:
        return StatLine(
            pid=int(head),
            comm=comm.decode("utf-8", "replace"),
            state=after[0].decode("ascii"),
            parent=int(after[1]),
            threads=int(after[17]),
            started=int(after[19]),
            exit_status=int(after[49]) if len(after) > 49 else None,
        )
    except ValueError:
        return None
