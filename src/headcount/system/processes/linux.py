"""Processes on Linux: one pidfd for each watched process, on the daemon's own loop.

Rules
  1. A process is pinned first, then read and compared, and checked for being alive last. Only then is what was
     read used.
  2. Dead means: its pidfd reported the end, nothing has its pid, or another process has it.
  3. When no descriptor is free the process is polled once a second until there is one. Doubt is never death.
  4. Descriptors of watched processes belong to the event loop: only code that runs on it may use them.

Not here: pinning a remembered process (pidfds/handle.py), how a process ended (pidfds/calls.py), how many
pidfds there may be (pidfds/watches.py), kernels without pidfds (portable.py), what boot and namespace alone
decide (core/values/verdict.py).
"""

import asyncio
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from headcount.core.values.process import BootAndNamespace, Locks, OpenFiles, ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Proof, Standing, Verdict, alive, dead, judge_place, unknown
from headcount.system.processes import boot_and_namespace, children, descriptor_limits, open_files, procfs
from headcount.system.processes.boot_and_namespace import FOREIGN_PROC, NO_MACHINE
from headcount.system.processes.descriptor_limits import raise_nofile
from headcount.system.processes.interface import Look, OnDeath, ProcessGone, Unreadable
from headcount.system.processes.pidfds import calls
from headcount.system.processes.pidfds.handle import NotHeld, Pinning, ProcessHandle
from headcount.system.processes.pidfds.kernel_features import Features, probe
from headcount.system.processes.pidfds.watches import Watches
from headcount.system.processes.polling import Polling
from headcount.system.processes.resource_usage import read_usage

LOOKS = 3
"""If the pid was reused while it was read, the read is tried again for its new owner."""


class LinuxProcesses:
    name = "linux"

    def __init__(self, loop: asyncio.AbstractEventLoop, features: Features = Features()) -> None:  # noqa: B008
        self.features = features & probe()
        self._loop = loop
        self._place = boot_and_namespace.read_place()
        self._proc_is_ours = boot_and_namespace.proc_is_ours()
        raise_nofile()
        self._pinning = Pinning(self._place, self.features, proc_is_ours=self._proc_is_ours)
        self._watches = Watches(loop, lambda who, pinned: self._tell(who, self._ended(who, pinned)))
        self._on_death: dict[ProcessIdentity, OnDeath] = {}
        self._polling = Polling(loop, self._judge_batch, self._conclude)
        self._short: set[ProcessIdentity] = set()  # processes that got no pidfd

    # --- looking ---------------------------------------------------------------------------------

    def place(self) -> BootAndNamespace:
        return self._place

    def pids(self) -> Iterable[int]:
        with os.scandir("/proc") as entries:
            return [int(entry.name) for entry in entries if entry.name.isdigit()]

    def glance(self, pid: int) -> object | None:
        if not self.features.inode or not self._proc_is_ours:
            return None
        program = procfs.read_program(pid)
        inode = calls.find_inode(pid)
        return None if inode is None else (inode, program)

    def look(self, pid: int) -> Look:
        if not self._proc_is_ours:
            return Unreadable(FOREIGN_PROC)
        for _ in range(LOOKS):
            pinned = calls.open_pidfd(pid)
            if not isinstance(pinned, int):
                return pinned
            with _closing(pinned):
                seen = self._look_pinned(pinned, pid)
                if not isinstance(seen, ProcessGone) or not calls.is_reaped(pinned):
                    return seen
        return Unreadable("its pid changes hands too fast")

    def parent(self, identity: ProcessIdentity) -> int | None:
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return None
        with _closing(pinned):
            told = calls.ask(pinned)
            parent = told.parent if told is not None else None
            if parent is None:  # some kernels do not answer for a process whose parent they cannot name
                parent = procfs.find_parent(identity.pid)
            return None if calls.has_ended(pinned) else parent

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return {}
        with _closing(pinned):
            try:
                with procfs.open_directory(identity.pid) as directory:
                    found = procfs.read_environ(directory, names)
            except OSError:
                return {}
            return {} if calls.has_ended(pinned) else found

    def cpu_time(self, identity: ProcessIdentity) -> float | None:
        if not self._proc_is_ours or judge_place(identity, self._place, NO_MACHINE):
            return None
        used = read_usage(identity.pid)
        return used if self._prove_here(identity).standing is Standing.ALIVE else None

    def locks(self) -> Locks:
        return open_files.read_locks() if self._proc_is_ours else {}

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        if not self._proc_is_ours:
            return None
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return None
        with _closing(pinned):
            found = open_files.read_open_files(identity.pid, locks)
            return None if calls.has_ended(pinned) else found

    def children(self, identity: ProcessIdentity) -> tuple[int, ...]:
        found = children.children_of(identity.pid) if self._proc_is_ours else ()
        return found if self._prove_here(identity).standing is Standing.ALIVE else ()

    def carriers(self, names: frozenset[str]) -> dict[int, dict[str, str]]:
        return children.carriers(names) if self._proc_is_ours else {}

    def hold(self, identity: ProcessIdentity) -> ProcessHandle | NotHeld:
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return NotHeld(pinned.because, over=pinned.standing is Standing.DEAD)
        try:
            with procfs.open_directory(identity.pid) as directory:
                uid = os.fstat(directory).st_uid
        except OSError as error:
            uid, failure = -1, error.strerror or str(error)
        if calls.has_ended(pinned):  # checked last: until then the pid was its own
            os.close(pinned)
            return NotHeld("it has already ended", over=True)
        if uid < 0:
            os.close(pinned)
            return NotHeld(f"it cannot be read: {failure}")
        return ProcessHandle(identity, uid, pinned, self.features.exit_info)

    def _look_pinned(self, pinned: int, pid: int) -> Look:
        seen: ProcessFacts | None = None
        failure = "its stat line is not readable"
        try:
            with procfs.open_directory(pid) as directory:
                stat = procfs.read_stat(directory)
                if stat is not None:
                    identity = self._pinning.identity_of(pid, pinned, stat.started)
                    seen = procfs.read_facts(directory, stat, identity)
        except OSError as error:
            failure = error.strerror or str(error)
        if calls.has_ended(pinned):
            return ProcessGone()
        return seen or Unreadable(failure)

    # --- proving ---------------------------------------------------------------------------------

    def prove(self, identity: ProcessIdentity, remembered_machine: str) -> Verdict:
        elsewhere = judge_place(identity, self._place, remembered_machine)
        if elsewhere is not None:
            return elsewhere
        watched = self._watches.find(identity)
        if watched is None:
            return self._prove_here(identity)
        return self._judge_pinned(identity, watched)  # it was compared when it was adopted

    def _prove_here(self, identity: ProcessIdentity) -> Verdict:
        """Also called in the polling thread."""
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return pinned
        with _closing(pinned):
            return self._judge_pinned(identity, pinned)

    def _judge_pinned(self, identity: ProcessIdentity, pinned: int) -> Verdict:
        if calls.has_ended(pinned):
            return self._ended(identity, pinned)
        return alive("the kernel still has that very process")

    def _pin(self, identity: ProcessIdentity) -> int | Verdict:
        elsewhere = judge_place(identity, self._place, NO_MACHINE)
        return elsewhere or self._pinning.pin(identity)

    def _ended(self, identity: ProcessIdentity, pinned: int) -> Verdict:
        how = calls.read_exit(pinned, identity.pid, identity.started, self.features.exit_info)
        return dead(Proof.EXITED, "the kernel reported its end", how)

    # --- watching --------------------------------------------------------------------------------

    def watch(self, identity: ProcessIdentity, on_death: OnDeath) -> Verdict:
        if identity in self._on_death:
            self._on_death[identity] = on_death
            return alive("watched already") if identity in self._watches else unknown("looked at already")
        elsewhere = judge_place(identity, self._place, NO_MACHINE)
        shortages = descriptor_limits.count_met()
        verdict = elsewhere or self._attach(identity)
        if verdict.standing is Standing.DEAD:
            return verdict
        self._on_death[identity] = on_death
        if elsewhere is None and identity not in self._watches:
            self._polling.add(identity)
            if descriptor_limits.count_met() != shortages:
                self._short.add(identity)
        return verdict

    def unwatch(self, identity: ProcessIdentity) -> None:
        self._on_death.pop(identity, None)
        self._look_no_more(identity)
        self._watches.discard(identity)

    def is_told(self, identity: ProcessIdentity) -> bool:
        return identity in self._watches

    def watched(self) -> int:
        return len(self._on_death)

    def polled(self) -> int:
        return len(self._polling)

    def make_room(self, *, none_left: bool = False) -> int:
        given_up = self._watches.make_room(none_left=none_left)
        for identity in given_up:
            self._polling.add(identity)
        self._short.update(given_up)
        return len(given_up)

    def is_short(self) -> bool:
        return bool(self._short)

    def close(self) -> None:
        for identity in tuple(self._on_death):
            self.unwatch(identity)
        self._polling.close()

    def _attach(self, identity: ProcessIdentity) -> Verdict:
        """Put a pidfd of it on the loop, if a descriptor is free."""
        pinned = self._pin(identity)
        if not isinstance(pinned, int):
            return pinned
        if calls.has_ended(pinned):
            with _closing(pinned):
                return self._ended(identity, pinned)
        if not self._watches.has_room():
            os.close(pinned)
            self._short.add(identity)
            return alive("seen alive; few descriptors are left, so it is looked at every second")
        self._watches.add(identity, pinned)
        return alive("watched by the kernel")

    def _judge_batch(self, identities: tuple[ProcessIdentity, ...]) -> dict[ProcessIdentity, Verdict]:
        return {identity: self._prove_here(identity) for identity in identities}

    def _conclude(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        if verdict.standing is Standing.ALIVE and self._watches.has_room():
            verdict = self._attach(identity)  # promoted: a descriptor is free by now
        if verdict.standing is Standing.DEAD:
            self._tell(identity, verdict)
        elif identity in self._watches:
            self._look_no_more(identity)

    def _look_no_more(self, identity: ProcessIdentity) -> None:
        self._polling.discard(identity)
        self._short.discard(identity)

    def _tell(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        self._look_no_more(identity)
        on_death = self._on_death.pop(identity, None)
        if on_death is not None:
            on_death(identity, verdict)


@contextmanager
def _closing(pinned: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(pinned)
