"""Resource usage of a process: age, processor time, memory, listening ports.

Rules
  1. These are figures for people: what cannot be read is missing, and nothing follows from it.
  2. `measure` is about one incarnation: it reads through the process's own directory and compares its start.
  3. Ports are found by the inodes of the process's own sockets in the kernel's list of listeners.
  4. `read_usage` adds the process's own time, that of its reaped children (the kernel adds it to the parent),
     and the same for live descendants: a session whose tool computes has not stalled.
  5. It reads a bounded number of processes, leaves out a descendant that ends meanwhile, and is not exact to
     a tick: it is meant to be called once a minute.

Not here: identity and liveness (linux.py), what little use means (daemon/observers/stalls.py).
"""

import os
import sys

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.system.processes import procfs
from headcount.system.processes.children import children_of
from headcount.system.processes.procfs import TICKS, parse_stat

PAGE = os.sysconf("SC_PAGE_SIZE")
LISTENS = b"0A"  # TCP_LISTEN in /proc/net/tcp
LISTENERS = ("/proc/net/tcp", "/proc/net/tcp6")
PORTS_MOST = 16
PROCESSES_MOST = 256
SOCKETS_MOST = 4_096  # descriptors looked at; a process with more is not counted to the end
USER_TIME, SYSTEM_TIME = 11, 12  # of the fields behind the name


class Footprint(Struct, frozen=True):
    age: float | None = None  # in seconds
    cpu: float | None = None
    memory: int | None = None  # resident bytes
    ports: tuple[int, ...] = ()


NOTHING = Footprint()


def listeners() -> dict[int, int]:
    """The inode of every listening TCP socket in our network, with its port."""
    found: dict[int, int] = {}
    for path in LISTENERS:
        try:
            with open(path, "rb") as file:
                rows = file.read().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            words = row.split()
            if len(words) > 9 and words[3] == LISTENS:
                found[int(words[9])] = int(words[1].rpartition(b":")[2], 16)
    return found


def measure(identity: ProcessIdentity, uptime: float, listening: dict[int, int]) -> Footprint:
    """Usage of exactly that process. `uptime`: seconds since boot, suspended time included."""
    if sys.platform != "linux":
        return _elsewhere(identity)
    try:
        with procfs.open_directory(identity.pid) as directory:
            line = procfs.read_line(directory, "stat")
            stat = parse_stat(line)
            if stat is None or identity.started not in (None, stat.started):
                return NOTHING
            after = line.rpartition(b")")[2].split()
            return Footprint(
                age=max(0.0, uptime - stat.started / TICKS),
                cpu=(int(after[USER_TIME]) + int(after[SYSTEM_TIME])) / TICKS,
                memory=int(procfs.read_line(directory, "statm").split()[1]) * PAGE,
                ports=_ports(directory, listening),
            )
    except (OSError, ValueError, IndexError):
        return NOTHING


def _ports(directory: int, listening: dict[int, int]) -> tuple[int, ...]:
    if not listening:
        return ()
    found: set[int] = set()
    try:
        fds = os.open("fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return ()
    try:
        for name in os.listdir(fds)[:SOCKETS_MOST]:
            try:
                target = os.readlink(name, dir_fd=fds)
            except OSError:
                continue
            if target.startswith("socket:["):
                port = listening.get(int(target[8:-1]))
                if port is not None:
                    found.add(port)
    except OSError:
        return ()
    finally:
        os.close(fds)
    return tuple(sorted(found)[:PORTS_MOST])


def _elsewhere(identity: ProcessIdentity) -> Footprint:
    import psutil

    from headcount.system.processes.portable import read_start

    try:
        process = psutil.Process(identity.pid)
        if read_start(process) != identity.started:
            return NOTHING
        used = process.cpu_times()
        return Footprint(None, used.user + used.system, process.memory_info().rss)
    except (psutil.Error, OSError):
        return NOTHING


def read_usage(pid: int) -> float | None:
    """Seconds; None: the process cannot be read."""
    own = _own(pid)
    if own is None:
        return None
    total, seen, waiting = own, {pid}, list(children_of(pid))
    while waiting and len(seen) < PROCESSES_MOST:
        child = waiting.pop()
        if child not in seen:
            seen.add(child)
            total += _own(child) or 0.0
            waiting += children_of(child)
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
