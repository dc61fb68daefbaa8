"""Processes on any system, through psutil: the same interface with the weaker promises of polling.

Used where there is no Linux, and on Linux kernels without pidfds.

Rules
  1. All watched processes are read in one batch in a thread, once a second, while any is watched.
  2. One absence is doubt; the next pass confirms it. Another start or a zombie is a proof at once.
  3. A start is counted from boot: the kernel's ticks on Linux, creation minus boot elsewhere. Both of those
     move with the wall clock, so that their difference does not; it is exact only to about two seconds
     (`nearly_same_start`). psutil's creation time by itself moves with the wall clock and is never stored.
  4. No permission to read is UNKNOWN. How a process ended is not known here: an empty Exit.
  5. A /proc of another pid namespace is not read: every process is UNKNOWN.

Not here: pidfds (linux.py).
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import psutil

from headcount.core.values.process import (
    BootAndNamespace,
    Locks,
    OpenFile,
    OpenFiles,
    ProcessFacts,
    ProcessIdentity,
)
from headcount.core.values.verdict import Proof, Standing, Verdict, alive, dead, judge_place, unknown
from headcount.system.processes import boot_and_namespace
from headcount.system.processes.boot_and_namespace import FOREIGN_PROC, NO_MACHINE
from headcount.system.processes.interface import Look, OnDeath, ProcessGone, Unreadable
from headcount.system.processes.pidfds.calls import is_vacant
from headcount.system.processes.pidfds.handle import NotHeld, ProcessHandle
from headcount.system.processes.polling import Polling
from headcount.system.processes.procfs import TICKS, open_directory, read_stat

DESCENDANTS_MOST = 256

ABSENT = unknown("not found once; the next look confirms it or not", "not-found-once")
T = TypeVar("T")

ROUGHLY = 2 * TICKS
"""Two starts nearer than this may be one start read twice, where it is a difference of wall times.
A pid is not reused that soon: systems assign numbers in a circle."""


class PortableProcesses:
    name = "portable"

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._place = boot_and_namespace.read_place()
        self._readable = sys.platform != "linux" or boot_and_namespace.proc_is_ours()
        self._on_death: dict[ProcessIdentity, OnDeath] = {}
        self._missed: set[ProcessIdentity] = set()
        self._polling = Polling(loop, self._judge_batch, self._conclude)

    # --- looking ---------------------------------------------------------------------------------

    def place(self) -> BootAndNamespace:
        return self._place

    def pids(self) -> Iterable[int]:
        return list(psutil.pids())

    def glance(self, pid: int) -> object | None:
        return None

    def look(self, pid: int) -> Look:
        if pid <= 0:
            return ProcessGone()
        if not self._readable:
            return Unreadable(FOREIGN_PROC)
        try:
            return self._read(psutil.Process(pid))
        except psutil.ZombieProcess:
            return ProcessGone()
        except (psutil.NoSuchProcess, OverflowError):
            return ProcessGone() if is_vacant(pid) else Unreadable("it is hidden from us")
        except psutil.AccessDenied:
            return Unreadable("not permitted")
        except OSError as error:
            return Unreadable(error.strerror or str(error))

    def parent(self, identity: ProcessIdentity) -> int | None:
        seen = self.look(identity.pid)
        return seen.parent if isinstance(seen, ProcessFacts) and seen.identity == identity else None

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        try:
            found = psutil.Process(identity.pid).environ()
        except (psutil.Error, OSError, OverflowError):
            return {}
        seen = self.look(identity.pid)
        if not isinstance(seen, ProcessFacts) or seen.identity != identity:
            return {}
        return {name: value for name, value in found.items() if name in names}

    def cpu_time(self, identity: ProcessIdentity) -> float | None:
        if judge_place(identity, self._place, NO_MACHINE):
            return None
        try:
            process = psutil.Process(identity.pid)
            used = _used(process)
            for child in process.children(recursive=True)[:DESCENDANTS_MOST]:
                used += _if_there(child)
        except (psutil.Error, OSError, OverflowError):
            return None
        return used if self._prove_here(identity).standing is Standing.ALIVE else None

    def locks(self) -> Locks:
        return {}

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        """The open files; which of them are locked is unknown here."""
        try:
            found = psutil.Process(identity.pid).open_files()
        except (psutil.Error, OSError, OverflowError):
            return None
        seen = self.look(identity.pid)
        if not isinstance(seen, ProcessFacts) or seen.identity != identity:
            return None
        return tuple(OpenFile(path) for path in dict.fromkeys(each.path for each in found))

    def children(self, identity: ProcessIdentity) -> tuple[int, ...]:
        try:
            found = tuple(child.pid for child in psutil.Process(identity.pid).children())
        except (psutil.Error, OSError, OverflowError):
            return ()
        return found if self._prove_here(identity).standing is Standing.ALIVE else ()

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        uid, found = os.geteuid(), {}
        for process in psutil.process_iter():
            try:
                if process.uids().effective != uid:
                    continue
                carried = {name: value for name, value in process.environ().items() if name in names}
            except (psutil.Error, OSError):
                continue
            if carried:
                found[process.pid] = carried
        return found

    def hold(self, identity: ProcessIdentity) -> ProcessHandle | NotHeld:
        return NotHeld("here a process cannot be pinned, so that a signal could reach another")

    def _read(self, process: psutil.Process) -> Look:
        started = read_start(process)
        with process.oneshot():
            comm, parent, uid = process.name(), process.ppid(), process.uids().effective
        facts = ProcessFacts(
            identity=ProcessIdentity(self._place.boot, self._place.namespace, process.pid, started),
            parent=parent,
            uid=uid,
            comm=comm,
            argv=tuple(_if_permitted(process.cmdline) or ()),
            exe=_if_permitted(process.exe) or None,
            cwd=_if_permitted(process.cwd) or None,
        )
        if _has_ended(process) or not psutil.pid_exists(
            process.pid
        ):  # the number belongs to a thread, not to a process
            return ProcessGone()
        if read_start(psutil.Process(process.pid)) != started:
            return Unreadable("its pid changed hands while it was read")
        return facts

    # --- proving ---------------------------------------------------------------------------------

    def prove(self, identity: ProcessIdentity, remembered_machine: str) -> Verdict:
        return judge_place(identity, self._place, remembered_machine) or self._prove_here(identity)

    def _prove_here(self, identity: ProcessIdentity) -> Verdict:
        if not self._readable:
            return unknown(FOREIGN_PROC, "other-proc")
        try:
            process = psutil.Process(identity.pid)
            started, ended = read_start(process), _has_ended(process)
        except psutil.ZombieProcess:
            return dead(Proof.EXITED, "it is a zombie")
        except (psutil.NoSuchProcess, OverflowError):
            return ABSENT
        except psutil.AccessDenied:
            return unknown("not permitted to look", "not-permitted")
        except OSError as error:
            return unknown(error.strerror or str(error), "unreadable")
        if started is None or identity.started is None:
            return unknown("its start is not known", "no-start")
        if started != identity.started:
            if nearly_same_start(started, identity.started):
                return unknown("its start is told only roughly here", "rough-start")
            return dead(Proof.REPLACED, "its pid belongs to another process")
        return dead(Proof.EXITED, "it is a zombie") if ended else alive("same pid, same start")

    # --- watching --------------------------------------------------------------------------------

    def watch(self, identity: ProcessIdentity, on_death: OnDeath) -> Verdict:
        elsewhere = judge_place(identity, self._place, NO_MACHINE)
        verdict = elsewhere or self._prove_here(identity)
        if verdict.standing is Standing.DEAD:
            return verdict
        self._on_death[identity] = on_death
        if verdict is ABSENT:
            self._missed.add(identity)
        if elsewhere is None:
            self._polling.add(identity)
        return verdict

    def unwatch(self, identity: ProcessIdentity) -> None:
        self._on_death.pop(identity, None)
        self._missed.discard(identity)
        self._polling.discard(identity)

    def is_told(self, identity: ProcessIdentity) -> bool:
        return False  # it is only polled

    def watched(self) -> int:
        return len(self._on_death)

    def polled(self) -> int:
        return len(self._polling)

    def make_room(self, *, none_left: bool = False) -> int:
        return 0  # watching holds no descriptors here

    def is_short(self) -> bool:
        return False

    def close(self) -> None:
        self._polling.close()
        self._on_death.clear()

    def _judge_batch(self, identities: tuple[ProcessIdentity, ...]) -> dict[ProcessIdentity, Verdict]:
        return {identity: self._prove_here(identity) for identity in identities}

    def _conclude(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        if verdict is ABSENT and identity in self._missed and is_vacant(identity.pid):
            verdict = dead(Proof.EXITED, "no process has its pid any more, in two looks")
        if verdict is ABSENT:
            self._missed.add(identity)
        else:
            self._missed.discard(identity)
        if verdict.standing is Standing.DEAD:
            on_death = self._on_death.get(identity)
            self.unwatch(identity)
            if on_death is not None:
                on_death(identity, verdict)


def _has_ended(process: psutil.Process) -> bool:
    """Whether it is a zombie without other threads: with threads, only its main thread ended."""
    if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return False
    try:
        return bool(process.num_threads() <= 1)
    except psutil.ZombieProcess:
        return True


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    ended = getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return float(times.user + times.system + ended)


def _if_there(child: psutil.Process) -> float:
    try:
        return _used(child)
    except (psutil.Error, OSError):
        return 0.0


def _if_permitted(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (psutil.AccessDenied, psutil.ZombieProcess, OSError):
        return None


def read_start(process: psutil.Process) -> int | None:
    """The start since boot. May raise psutil's errors, like any read of a process."""
    if sys.platform == "linux":
        return _from_stat(process.pid)
    return round((process.create_time() - psutil.boot_time()) * TICKS)


def nearly_same_start(one: int, other: int) -> bool:
    return sys.platform != "linux" and abs(one - other) < ROUGHLY


def _from_stat(pid: int) -> int | None:
    try:
        with open_directory(pid) as directory:
            stat = read_stat(directory)
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    except PermissionError:
        raise psutil.AccessDenied(pid) from None
    return None if stat is None else stat.started
