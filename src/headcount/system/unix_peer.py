"""The process at the other end of a unix socket, as the kernel names it.

Rules
  1. The kernel names the process that called connect(2), or listen(2) if the client asks. Nothing that the
     other side writes is trusted.
  2. The pidfd, where the kernel gives one, pins that process: it must be closed.
  3. An identity is handed out only if the pidfd was still alive after the look. Without a pidfd the pid's
     present owner is named, which is right while the peer waits for its answer.

Not here: what a peer may do (daemon/identity/), walking up from it (processes/ancestry.py).
"""

import _socket
import os
import socket
import struct
import sys

from msgspec import Struct

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes import descriptor_limits
from headcount.system.processes.interface import Processes
from headcount.system.processes.pidfds import calls as pidfds
from headcount.system.processes.pidfds.kernel_features import SO_PEERPIDFD

LINUX_CREDENTIALS = struct.Struct("=iII")  # struct ucred: pid, uid, gid
DARWIN_CREDENTIALS = struct.Struct("=IIh2xI")  # struct xucred: version, uid, groups, first group
DARWIN_LOCAL, DARWIN_PEERCRED, DARWIN_PEERPID = 0, 1, 2  # SOL_LOCAL and its options, sys/un.h


class Peer(Struct):
    pid: int  # 0: it lives in a pid namespace that we cannot see
    uid: int
    gid: int
    pidfd: int | None = None
    closed: bool = False  # it no longer waits: its pid may be another's by now
    _inode: int | None = None  # of the pidfd, once it was asked

    @classmethod
    def of(cls, sock: _socket.socket, with_pidfd: bool = True) -> "Peer":
        """The peer of a connected unix socket. OSError: it is no such socket, or no descriptor was free."""
        pid, uid, gid = _darwin(sock) if sys.platform == "darwin" else _linux(sock)
        return cls(pid, uid, gid, _peer_pidfd(sock) if with_pidfd else None)

    def look(self, processes: Processes) -> ProcessFacts | None:
        """The facts of exactly that process; None: it ended, or cannot be told from another."""
        if self.pid <= 0 or self.closed:
            return None
        seen = processes.look(self.pid)
        if not isinstance(seen, ProcessFacts):
            return None
        if self.pidfd is not None and pidfds.has_ended(self.pidfd):
            return None  # its pid may have been another's when it was read
        return seen

    def identity(self, processes: Processes) -> ProcessIdentity | None:
        seen = self.look(processes)
        return None if seen is None else seen.identity

    def inode(self) -> int | None:
        """The inode of its pidfd; it identifies the process on kernels with such inodes, else nothing."""
        if self._inode is None and self.pidfd is not None:
            self._inode = pidfds.inode_of(self.pidfd)
        return None if self.pidfd is None else self._inode

    def has_ended(self) -> bool:
        """Whether it ended, as its pidfd shows. A closed pidfd shows nothing, which counts as ended."""
        return self.closed or (self.pidfd is not None and pidfds.has_ended(self.pidfd))

    def close(self) -> None:
        self.closed = True
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None


def _linux(sock: _socket.socket) -> tuple[int, int, int]:
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, LINUX_CREDENTIALS.size)
    pid, uid, gid = LINUX_CREDENTIALS.unpack(data)
    return pid, uid, gid


def _darwin(sock: _socket.socket) -> tuple[int, int, int]:
    data = sock.getsockopt(DARWIN_LOCAL, DARWIN_PEERCRED, 76)
    _, uid, _, gid = DARWIN_CREDENTIALS.unpack(data[: DARWIN_CREDENTIALS.size])
    return sock.getsockopt(DARWIN_LOCAL, DARWIN_PEERPID), uid, gid


def _peer_pidfd(sock: _socket.socket) -> int | None:
    """None on a kernel before 6.5, and for a peer that is over on one before 6.16. With no descriptor left it
    raises: a peer that is not pinned may be another process by the next request."""
    try:
        return sock.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError as error:
        if error.errno in descriptor_limits.NOTHING_LEFT:
            raise
        return None
