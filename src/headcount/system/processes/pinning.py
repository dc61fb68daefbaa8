"""Pinning a remembered process: a pidfd of that very incarnation, or the reason why there is none.

Rules of this file
  1. By its handle first: it opens that process or nothing. Then by its pid, compared afterwards.
  2. Dead is a number that nothing has, a number that another has, or a number whose owner has ended:
     were the remembered one alive, the number would be its own.
  3. A stale handle against a living match is a contradiction, and the living one is believed.

Not here: whether the pinned process lives (linux.py asks its pidfd), other places (core/values/verdict.py).
"""

import os

from headcount.core.values.process import Match, Place, ProcessIdentity, same_process
from headcount.core.values.verdict import Proof, Standing, Verdict, dead, unknown
from headcount.system.processes import handle, procfs
from headcount.system.processes.features import Features
from headcount.system.processes.interface import Gone, Unreadable
from headcount.system.processes.pidfds import calls


class Pinning:
    def __init__(self, place: Place, features: Features) -> None:
        self._place = place
        self._features = features
        self._pidfs = os.pidfd_open(os.getpid()) if features.handle else None
        self._handles = None if self._pidfs is None else handle.learn_handles(self._pidfs)

    def close(self) -> None:
        if self._pidfs is not None:
            os.close(self._pidfs)
            self._pidfs = self._handles = None

    def pin(self, identity: ProcessIdentity) -> int | Verdict:
        """The pidfd is the caller's to close. A verdict is DEAD or UNKNOWN."""
        by_handle = self._pin_by_handle(identity)
        if isinstance(by_handle, int):
            return by_handle
        by_pid = self._pin_by_pid(identity)
        in_doubt = not isinstance(by_pid, int) and by_pid.standing is Standing.UNKNOWN
        if isinstance(by_handle, Gone) and in_doubt:
            return dead(Proof.EXITED, "its handle is that of a process that is over")
        return by_pid

    def identity_of(self, pid: int, pinned: int, started: int | None) -> ProcessIdentity:
        inode = calls.inode_of(pinned) if self._features.inode else None
        return ProcessIdentity(self._place.boot, self._place.namespace, pid, started, inode)

    def _pin_by_handle(self, identity: ProcessIdentity) -> int | Gone | Unreadable | None:
        pidfs, handles = self._pidfs, self._handles
        if pidfs is None or handles is None or identity.inode is None:
            return None
        pinned = handle.open_handle(identity.inode, handles, pidfs)
        if isinstance(pinned, int) and calls.pid_of(pinned) not in (identity.pid, calls.REAPED):
            os.close(pinned)  # a record whose pid and inode are of two processes: its pid is asked instead
            return None
        return pinned

    def _pin_by_pid(self, identity: ProcessIdentity) -> int | Verdict:
        pinned = calls.open_pidfd(identity.pid)
        if isinstance(pinned, Gone):
            return dead(Proof.EXITED, "no process has its pid any more")
        if isinstance(pinned, Unreadable):
            return unknown(pinned.why)
        match = same_process(identity, self.identity_of(identity.pid, pinned, self._ticks(identity, pinned)))
        if match is Match.SAME:
            return pinned
        ended = calls.has_ended(pinned)
        os.close(pinned)
        if match is Match.DIFFERENT:
            return dead(Proof.REPLACED, "its pid belongs to another process")
        if ended:
            return dead(Proof.EXITED, "whoever last had its pid is over")
        return unknown("nothing but its pid can be compared")

    def _ticks(self, identity: ProcessIdentity, pinned: int) -> int | None:
        """The start of the pinned process. Not read where inodes decide; not believed once the process
        is reaped, for then the number may already show another's."""
        if self._features.inode and identity.inode is not None:
            return None
        try:
            with procfs.open_directory(identity.pid) as directory:
                stat = procfs.read_stat(directory)
        except OSError:
            return None
        if stat is None or (calls.has_ended(pinned) and calls.is_reaped(pinned)):
            return None
        return stat.started
