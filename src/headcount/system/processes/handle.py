"""The file handle of a pidfd: the way back to the very same process after a restart of ours.

Rules of this file
  1. The handle of a process is its inode, so one stored number is enough. Type and layout are
     learned from the kernel by asking for our own; nothing is assumed of them.
  2. ESTALE means that this process is over, if it was of this boot and this namespace: from another
     namespace it means nothing, so callers look at the place first.

Not here: what a stale handle proves (linux.py).
"""

import ctypes
import errno
import os
import struct
import sys

from msgspec import Struct

from headcount.system import libc
from headcount.system.processes import descriptor_limits
from headcount.system.processes.interface import Gone, Unreadable

AT_EMPTY_PATH = 0x1000
HANDLE_MOST = 128  # MAX_HANDLE_SZ
HEAD = struct.Struct("=Ii")  # struct file_handle: how many bytes follow, and of which type


class HandleKind(Struct, frozen=True):
    """What this kernel's handles of processes look like."""

    type: int
    size: int


def learn_handles(pidfd: int) -> HandleKind | None:
    """From a pidfd of our own; None: this kernel has none that we can read and open."""
    buffer = ctypes.create_string_buffer(HEAD.pack(HANDLE_MOST, 0), HEAD.size + HANDLE_MOST)
    mount = ctypes.c_int()
    try:
        libc.call("name_to_handle_at", pidfd, b"", buffer, ctypes.byref(mount), AT_EMPTY_PATH)
    except OSError:
        return None
    size, number = HEAD.unpack_from(buffer)
    kind = HandleKind(number, size)
    inode = os.fstat(pidfd).st_ino
    if buffer.raw[: HEAD.size + size] != _packed(inode, kind):
        return None
    again = open_handle(inode, kind, pidfd)
    if not isinstance(again, int):
        return None
    os.close(again)
    return kind


def open_handle(inode: int, kind: HandleKind, pidfs: int) -> int | Gone | Unreadable:
    """A pidfd of that very process. `pidfs` is any pidfd: it says in which file system to look."""
    try:
        return libc.call("open_by_handle_at", pidfs, _packed(inode, kind), os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ESTALE:
            return Gone()
        descriptor_limits.note(error)
        return Unreadable(error.strerror or str(error))


def _packed(inode: int, kind: HandleKind) -> bytes:
    return HEAD.pack(kind.size, kind.type) + inode.to_bytes(8, sys.byteorder)[: kind.size].ljust(
        kind.size, b"\0"
    )
