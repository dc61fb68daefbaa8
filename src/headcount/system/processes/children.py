"""Children of a process, and processes that have certain variables in their environment.

Rules
  1. Both are hints by pid: the caller verifies each process before using the result.
  2. Children are read only from the requested subtree, not by a walk over all processes.
  3. Only environments of our own user's processes are read, and only the named variables are returned.

Not here: whose descendant a process is (daemon/leftovers/), verified looks (linux.py).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from headcount.system.processes import procfs

CHUNK = 131_072  # one read holds nearly every environment


def children_of(pid: int) -> tuple[int, ...]:
    """Of the number's present owner. Every thread has children of its own: proc_pid_task_children(5)."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return ()
    found: list[int] = []
    for thread in threads:
        try:
            found += map(int, _content(f"/proc/{pid}/task/{thread}/children").split())
        except FileNotFoundError:
            if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
                return tuple(_by_parent(pid))  # a kernel built without that file
        except OSError:
            continue
    return tuple(found)


def carriers(names: frozenset[str]) -> dict[int, dict[str, str]]:
    """Our user's processes with any of these variables; about 20 µs per process, so that all can be read."""
    uid = os.geteuid()
    needles = tuple(name.encode() + b"=" for name in names)
    wanted = re.compile(
        rb"(?:^|\0)(" + b"|".join(re.escape(each.encode()) for each in names) + rb")=([^\0]*)"
    )
    found: dict[int, dict[str, str]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            content = _content(f"/proc/{name}/environ", uid)
        except OSError:
            continue
        if any(needle in content for needle in needles):
            pairs = (
                (key.decode(), value.decode("utf-8", "replace")) for key, value in wanted.findall(content)
            )
            found[int(name)] = dict(pairs)
    return {pid: carried for pid, carried in found.items() if carried}


def _by_parent(pid: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with procfs.open_directory(int(name)) as directory:
                    stat = procfs.read_stat(directory)
            except OSError:
                continue
            if stat is not None and stat.parent == pid:
                yield int(name)


def _content(path: str, uid: int | None = None) -> bytes:
    """A whole file under /proc; nothing if the process is another user's."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if uid is not None and os.fstat(file).st_uid != uid:
            return b""
        content = os.read(file, CHUNK)
        while content and len(content) % CHUNK == 0 and len(content) < procfs.ENVIRON_MOST:
            more = os.read(file, CHUNK)
            if not more:
                break
            content += more
        return content
    finally:
        os.close(file)
