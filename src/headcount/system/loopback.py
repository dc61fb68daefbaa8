"""Loopback TCP: a listener that only this machine reaches, and whose process is at the other end.

Rules of this file
  1. 127.0.0.1 and nothing else. IPPROTO_TCP is named, or asyncio leaves Nagle's delay on and keep-alive falls to
     a twentieth.
  2. The uid of the other end is the kernel's word (sock_diag(7)), asked once a connection. Where it cannot be
     asked it is None: doubt, not a yes.

Not here: who may do what with it (daemon/gate.py).
"""

import errno
import os
import socket
import struct

from msgspec import Struct

HOST = "127.0.0.1"
BACKLOG = 128

SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
REQUEST = 1  # NLM_F_REQUEST
ANY_STATE = 0xFFFFFFFF
NO_COOKIE = b"\xff" * 8
HEAD = struct.Struct("=IHHII")
QUESTION = struct.Struct("=BBBBI")
UID_AT = HEAD.size + 4 + 48 + 12  # of struct inet_diag_msg: family…, the socket's id, expires, rqueue, wqueue
ANSWER_MOST = 4096


class Loopback(Struct, frozen=True):
    """One connection: the port it came in by, and the uid at its other end, where the kernel tells it."""

    port: int
    uid: int | None

    @classmethod
    def of(cls, sock: socket.socket) -> "Loopback":
        return cls(sock.getsockname()[1], uid_of_peer(sock))


def open_loopback(port: int) -> socket.socket:
    """Listening; port 0 takes a free one."""
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


def uid_of_peer(sock: socket.socket) -> int | None:
    """Who opened the other end of this connection; None: the kernel does not say."""
    try:
        ours, theirs = sock.getsockname(), sock.getpeername()
        netlink = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, SOCK_DIAG
        )  # absent elsewhere
        with netlink:
            netlink.setblocking(False)  # the kernel answers within the send
            netlink.send(_question(theirs, ours))
            return _uid(netlink.recv(ANSWER_MOST))
    except (OSError, AttributeError, struct.error):
        return None


def _question(source: tuple[str, int], target: tuple[str, int]) -> bytes:
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
    uid: int = struct.unpack_from("=I", answer, UID_AT)[0]
    return uid


def is_allowed(uid: int | None) -> bool:
    """Ourselves, or root, who needs no door. Where the kernel is silent the credential alone decides."""
    return uid is None or uid in (0, os.getuid())
