"""Send a signal, only through a verified process handle.

Rules
  1. Only a pidfd is signalled, never a pid: it may belong to another process by then.
  2. Never another user's process, never ourselves.
  3. A signal that was not sent is an answer with its reason, not an exception.

Not here: deciding that a process should be signalled (always asked for by a person).
"""

import _socket
import os
import signal
from typing import Protocol

from msgspec import Struct

from headcount.system.unix_peer import Peer


class Handle(Protocol):
    """A process pinned by a pidfd, with the user it runs as."""

    @property
    def pid(self) -> int: ...

    @property
    def uid(self) -> int: ...

    @property
    def pidfd(self) -> int | None: ...


class Sent(Struct, frozen=True):
    pid: int


class NotSent(Struct, frozen=True):
    why: str
    over: bool = False  # it had already ended


def send(handle: Handle, number: signal.Signals) -> Sent | NotSent:
    if handle.pidfd is None:
        return NotSent("this kernel gives no handle for it")
    if handle.uid != os.geteuid():
        return NotSent("it is another user's process")
    if handle.pid == os.getpid():
        return NotSent("it is this very process")
    try:
        signal.pidfd_send_signal(handle.pidfd, number)
    except ProcessLookupError:
        return NotSent("it has already ended", over=True)
    except OSError as error:
        return NotSent(error.strerror or str(error))
    return Sent(handle.pid)


def terminate_listener(sock: _socket.socket) -> Sent | NotSent:
    """Ask the process that listens at the other end of a connected unix socket to stop."""
    try:
        peer = Peer.of(sock)
    except OSError as error:
        return NotSent(error.strerror or str(error))
    try:
        return send(peer, signal.SIGTERM)
    finally:
        peer.close()
