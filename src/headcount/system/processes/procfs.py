"""Reading one process under /proc, through its directory.

Rules of this file
  1. An open /proc/<pid> directory belongs to one incarnation: after its end every read in it fails,
     also when the pid was given to somebody else. So what is read through it is of one process.
  2. Whether that process still lived afterwards is for the caller to verify.
  3. Text is made safe here: what is not UTF-8 is replaced, long command lines are cut.

Not here: what a line means (stat.py), liveness (linux.py).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes import scarcity
from headcount.system.processes.stat import StatLine, parse_stat

ARGV_MOST = 65_536
"""Recognising an agent needs its first few words; a prompt in a command line can be megabytes."""

ENVIRON_MOST = 4_194_304
"""Larger than the kernel lets an environment be by default, and still a bound."""

STAT_MOST = 4_096
STATUS_MOST = 16_384


@contextmanager
def open_directory(pid: int) -> Iterator[int]:
    directory = _open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY)
    try:
        yield directory
    finally:
        os.close(directory)


def read_stat(directory: int) -> StatLine | None:
    return parse_stat(_read(directory, "stat", STAT_MOST))


def find_parent(pid: int) -> int | None:
    """Of whoever has that number now; None: nobody that can be read."""
    try:
        with open_directory(pid) as directory:
            stat = read_stat(directory)
    except OSError:
        return None
    return None if stat is None else stat.parent


def read_line(directory: int, name: str, most: int = STAT_MOST) -> bytes:
    """One of its short files, or the beginning of a longer one, as it is."""
    return _read(directory, name, most)


def read_facts(directory: int, stat: StatLine, identity: ProcessIdentity) -> ProcessFacts:
    return ProcessFacts(
        identity=identity,
        parent=stat.parent,
        uid=os.fstat(directory).st_uid,  # the effective user, whatever the process made readable
        comm=stat.comm,
        argv=_words(_read_or_nothing(directory, "cmdline", ARGV_MOST)),
        exe=_link(directory, "exe"),
        cwd=_link(directory, "cwd"),
    )


def read_program(pid: int) -> str | None:
    """What a bare number runs now; None: a kernel thread, or not ours to read."""
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115  a Path costs more than the call
    except OSError:
        return None


def read_environ(directory: int, names: frozenset[str]) -> dict[str, str]:
    wanted = {name.encode(): name for name in names}
    pairs = (entry.partition(b"=") for entry in _read(directory, "environ", ENVIRON_MOST).split(b"\0"))
    return {wanted[name]: value.decode("utf-8", "replace") for name, _, value in pairs if name in wanted}


def is_thread(directory: int, pid: int) -> bool:
    """Whether the number is only that of a thread in some process: /proc shows those too, if asked by number."""
    return b"\nTgid:\t%d\n" % pid not in _read(directory, "status", STATUS_MOST)


def may_read_exit(directory: int) -> bool:
    """The exit status in `stat` is a plain 0 for those who may not trace the process: proc_pid_stat(5)."""
    return os.geteuid() in (0, os.fstat(directory).st_uid)


def _open(name: str, flags: int, directory: int | None = None) -> int:
    try:
        return os.open(name, flags | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        scarcity.note(error)
        raise


def _read(directory: int, name: str, most: int) -> bytes:
    file = _open(name, os.O_RDONLY, directory)
    try:
        parts = []
        while most > 0 and (part := os.read(file, min(most, 65_536))):
            parts.append(part)
            most -= len(part)
            if name == "stat":
                break  # one read gives one consistent line
        return b"".join(parts)
    finally:
        os.close(file)


def _read_or_nothing(directory: int, name: str, most: int) -> bytes:
    try:
        return _read(directory, name, most)
    except OSError:
        return b""


def _words(data: bytes) -> tuple[str, ...]:
    words = data.rstrip(b"\0").split(b"\0")
    return tuple(word.decode("utf-8", "replace") for word in words) if data else ()


def _link(directory: int, name: bytes | str) -> str | None:
    """Where it points; the kernel's " (deleted)" stays. None: not ours to read, or a kernel thread."""
    try:
        return os.readlink(os.fsencode(name), dir_fd=directory).decode("utf-8", "replace")
    except OSError:
        return None
