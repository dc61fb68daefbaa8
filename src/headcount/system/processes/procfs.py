"""Reading one process under /proc: its stat line, command line, environment, links and controlling terminal.

Rules
  1. An open /proc/<pid> directory belongs to one incarnation: after its end every read in it fails, even if
     the pid was given to another process. So what is read through it belongs to one process.
  2. The caller verifies that the process was still alive afterwards.
  3. Text is made safe here: what is not UTF-8 is replaced, long command lines are cut.
  4. In a stat line (proc_pid_stat(5)) the name may contain spaces and parentheses: it ends at the last
     parenthesis. A line that is incomplete or not numeric is dropped whole.
  5. `has_ended` needs state Z or X *and* no other thread: a process whose main thread ended shows Z and lives
     on.
  6. A terminal that cannot be read is None, and nothing follows from it.

Not here: liveness and identity (linux.py), which program shows the terminal (core/values/terminal.py).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes import descriptor_limits

ENDED_STATES = frozenset("ZXx")

TICKS = os.sysconf("SC_CLK_TCK")
"""Per second: the unit in which a process's start and processor time are counted."""

ARGV_MOST = 65_536
"""Recognising an agent needs its first few words; a prompt in a command line can be megabytes."""

ENVIRON_MOST = 4_194_304
"""Larger than the kernel lets an environment be by default, and still a bound."""

STAT_MOST = 4_096

TTY = 4  # of the fields behind the name: tty_nr
PTS, CONSOLE = 136, 4  # major numbers


class ProcessGone(Struct, frozen=True):
    """No process has that pid: proven by the kernel, not by an unreadable file."""


class Unreadable(Struct, frozen=True):
    """The kernel did not answer. Not a death."""

    why: str


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
    """The parent of the process that has the pid now; None: none, or unreadable."""
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
    """The program that the pid runs now; None: a kernel thread, or not ours to read."""
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115  a Path costs more than the call
    except OSError:
        return None


def read_environ(directory: int, names: frozenset[str]) -> dict[str, str]:
    wanted = {name.encode(): name for name in names}
    pairs = (entry.partition(b"=") for entry in _read(directory, "environ", ENVIRON_MOST).split(b"\0"))
    return {wanted[name]: value.decode("utf-8", "replace") for name, _, value in pairs if name in wanted}


def may_read_exit(directory: int) -> bool:
    """Whether `stat` shows us the real exit status: it is 0 for readers that may not trace the process (proc_pid_stat(5))."""
    return os.geteuid() in (0, os.fstat(directory).st_uid)


def _open(name: str, flags: int, directory: int | None = None) -> int:
    try:
        return os.open(name, flags | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        descriptor_limits.note(error)
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


def has_terminal(pid: int) -> bool | None:
    if sys.platform != "linux":
        return _elsewhere(pid)[0]
    number = _number(pid)
    return None if number is None else number != 0


def terminal_of(pid: int) -> str | None:
    """`pts/3`; None: it has no terminal, or it cannot be read."""
    if sys.platform != "linux":
        return _elsewhere(pid)[1]
    number = _number(pid)
    if not number:
        return None
    major, minor = os.major(number), os.minor(number)
    return {PTS: f"pts/{minor}", CONSOLE: f"tty{minor}"}.get(major, f"tty {major}:{minor}")


def _number(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[TTY]) & 0xFFFFFFFF
    except (OSError, ValueError, IndexError):
        return None


def _elsewhere(pid: int) -> tuple[bool | None, str | None]:
    import psutil  # lazy: only on systems without /proc

    try:
        terminal = psutil.Process(pid).terminal()
        return terminal is not None, terminal
    except psutil.Error:
        return None, None
