"""Processes on a kernel without pidfds: what /proc alone can say.

Rules of this file
  1. Everything is read through one open /proc/<pid> directory, which is of one incarnation, and the
     stat line is read again at the end: the process lived from the first read to the last.
  2. A missing directory proves nothing (hidepid); that no task has the number does.
  3. Two processes with one pid and one start tick (10 ms) look the same here. Nothing better exists
     without pidfds, and the guarantees say so.

Not here: pidfds (linux.py), timers (polling.py).
"""

from headcount.core.values.process import Locks, OpenFiles, Place, ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Exit, Proof, Verdict, alive, dead, unknown
from headcount.system.processes import open_files, procfs
from headcount.system.processes.interface import Gone, Look
from headcount.system.processes.pidfds.calls import exit_of, is_vacant, no_descriptor
from headcount.system.processes.procfs import StatLine


class StatOnly:
    def __init__(self, place: Place) -> None:
        self._place = place

    def look(self, pid: int) -> Look:
        if pid <= 0:
            return Gone()
        try:
            with procfs.open_directory(pid) as directory:
                seen = self._read(directory, pid)
                again = procfs.read_stat(directory)
        except OSError as error:
            return no_descriptor(pid, error)
        if seen is None or again is None or again.has_ended:
            return Gone()
        return seen

    def parent(self, identity: ProcessIdentity) -> int | None:
        stat = self._stat_of(identity)
        return None if stat is None else stat.parent

    def environ(self, identity: ProcessIdentity, names: frozenset[str]) -> dict[str, str]:
        try:
            with procfs.open_directory(identity.pid) as directory:
                found = procfs.read_environ(directory, names)
                stat = procfs.read_stat(directory)
        except OSError:
            return {}
        return found if stat is not None and _is_alive(stat, identity) else {}

    def open_files(self, identity: ProcessIdentity, locks: Locks) -> OpenFiles | None:
        found = open_files.read_open_files(identity.pid, locks)
        return None if self._stat_of(identity) is None else found

    def prove(self, identity: ProcessIdentity) -> Verdict:
        try:
            with procfs.open_directory(identity.pid) as directory:
                stat = procfs.read_stat(directory)
                thread = procfs.is_thread(directory, identity.pid)
                permitted = procfs.may_read_exit(directory)
        except OSError as error:
            if is_vacant(identity.pid):
                return dead(Proof.EXITED, "no process has its pid any more")
            return unknown(error.strerror or str(error))
        if stat is None:
            return unknown("its stat line is not readable")
        if thread or (identity.started is not None and stat.started != identity.started):
            return dead(Proof.REPLACED, "its pid belongs to another process")
        if stat.has_ended:
            return dead(Proof.EXITED, "it is a zombie", exit_of(stat.exit_status) if permitted else Exit())
        return (
            alive("same pid, same start")
            if identity.started is not None
            else unknown("only its pid is known")
        )

    def _read(self, directory: int, pid: int) -> ProcessFacts | None:
        stat = procfs.read_stat(directory)
        if stat is None or stat.has_ended or procfs.is_thread(directory, pid):
            return None
        identity = ProcessIdentity(self._place.boot, self._place.namespace, pid, stat.started)
        return procfs.read_facts(directory, stat, identity)

    def _stat_of(self, identity: ProcessIdentity) -> StatLine | None:
        try:
            with procfs.open_directory(identity.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return None
        return stat if stat is not None and _is_alive(stat, identity) else None


def _is_alive(stat: StatLine, identity: ProcessIdentity) -> bool:
    return not stat.has_ended and identity.started == stat.started
