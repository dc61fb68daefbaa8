"""Loopback TCP: a listener that only this machine reaches, and which user is at the other end.

Rules
  1. 127.0.0.1 and nothing else. IPPROTO_TCP is named, or asyncio leaves Nagle's delay on and keep-alive falls
     to a twentieth. The same port of ::1 is bound and never listened on: browsers try it first for names of
     localhost, so a program that listened there could pose as the page.
  2. The kernel names the uid of the other end (sock_diag(7)). That counts only while the other end is
     connected: for a closed socket the kernel returns uid 0, or the owner of a new listener on its port.
  3. Only our own uid is accepted; root only if we are root.
  4. If a probe shows that the kernel cannot answer at all (macOS), every user of this machine may connect.

Not here: what a caller may do (daemon/http/request_checks.py).
"""

import errno
import os
import socket
import struct
from functools import cache

from msgspec import Struct

from headcount.system.processes.descriptor_limits import NOTHING_LEFT

HOST = "127.0.0.1"
HOST_6 = "::1"
NO_SUCH_HOST = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
BACKLOG = 128
TRIES = 16  # tries to find a port that is free on both addresses

SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
REQUEST = 1  # NLM_F_REQUEST
ANY_STATE = 0xFFFFFFFF
ESTABLISHED = 1
NO_COOKIE = b"\xff" * 8
HEAD = struct.Struct("=IHHII")
QUESTION = struct.Struct("=BBBBI")
UID_AT = HEAD.size + 4 + 48 + 12  # of struct inet_diag_msg: family…, the socket's id, expires, rqueue, wqueue
ANSWER_MOST = 4096

Address = tuple[str, int]


class Names(Struct, frozen=True):
    """Host values that a listener accepts."""

    page: frozenset[bytes]  # where the page and its login are served
    routes: frozenset[bytes]  # where the routes are; all of the above, too


class Loopback(Struct, frozen=True):
    """One connection of the page, and the names of the listener that it came in by."""

    ours: Address
    theirs: Address
    names: Names

    @classmethod
    def of(cls, sock: socket.socket, names: Names) -> "Loopback":
        return cls(sock.getsockname(), sock.getpeername(), names)

    def is_from_us(self) -> bool:
        """Whether the peer is our own user; asks the kernel each time. OSError: no descriptor was free to ask with."""
        return not can_ask_kernel() or uid_of_peer(self.theirs, self.ours) == os.getuid()


def open_loopback(port: int) -> tuple[socket.socket, socket.socket | None]:
    """A listener, and a socket that reserves the same port of ::1; port 0 takes a free one."""
    for left in reversed(range(TRIES if port == 0 else 1)):
        sock = _listen(port)
        try:
            return sock, _keep_from_others(sock.getsockname()[1])
        except OSError as error:
            sock.close()
            if left == 0 or error.errno != errno.EADDRINUSE:
                raise
    raise AssertionError("unreachable")


def _listen(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OverflowError:
        sock.close()
        raise OSError(errno.EINVAL, f"{port} is no port") from None
    except BaseException:
        sock.close()
        raise
    return sock


def _keep_from_others(port: int) -> socket.socket | None:
    """Reserve the port of ::1. None: this machine has no ::1, so no program can listen there."""
    sock = None
    try:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        sock.bind((HOST_6, port))
    except OSError as error:
        if sock is not None:
            sock.close()
        if error.errno not in NO_SUCH_HOST:
            raise
        return None
    return sock


@cache
def can_ask_kernel() -> bool:
    """Whether the kernel names the uid of a connection of our own; asked once, at the daemon's start."""
    try:
        with _listen(0) as listener, socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
            sock.connect(listener.getsockname())
            return uid_of_peer(sock.getsockname(), sock.getpeername()) == os.getuid()
    except OSError:
        return True  # no descriptor or port was free for the probe: in doubt, every peer is checked


def uid_of_peer(theirs: Address, ours: Address) -> int | None:
    """The uid of the other end; None: it is closed, or the kernel does not say."""
    try:
        netlink = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, SOCK_DIAG
        )  # absent elsewhere
        with netlink:
            netlink.setblocking(False)  # the kernel answers within the send
            netlink.send(_question(theirs, ours))
            return _uid(netlink.recv(ANSWER_MOST))
    except OSError as error:
        if error.errno in NOTHING_LEFT:
            raise
        return None
    except (AttributeError, struct.error):
        return None


def _question(source: Address, target: Address) -> bytes:
    """struct inet_diag_req_v2 for exactly that socket: seen from its own end it is the source."""
    body = (
        QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, ANY_STATE)
        + struct.pack("!HH", source[1], target[1])
        + socket.inet_aton(source[0]).ljust(16, b"\0")
        + socket.inet_aton(target[0]).ljust(16, b"\0")
        + struct.pack("=I", 0)
        + NO_COOKIE
    )
    return HEAD.pack(HEAD.size + len(body), BY_FAMILY, REQUEST, 1, 0) + body


def _uid(answer: bytes) -> int | None:
    _, kind, _, _, _ = HEAD.unpack_from(answer)
    if kind != BY_FAMILY:
        return None  # an error: no such socket, or not known here
    state: int = answer[HEAD.size + 1]
    uid, inode = struct.unpack_from("=II", answer, UID_AT)
    return int(uid) if state == ESTABLISHED and inode != 0 else None
