"""What this kernel has of the features, found by trying each once.

Rules of this file
  1. A feature is there when it worked on ourselves. Version numbers are not asked: kernels are patched.
  2. Probing leaves nothing open.

Not here: what is allowed (features.py).
"""

import os
import socket

from headcount.system.processes import handle, info
from headcount.system.processes.features import Features
from headcount.system.processes.pidfds import calls

SO_PEERPIDFD = 77  # asm-generic/socket.h


def probe() -> Features:
    ours = calls.open_pidfd(os.getpid()) if hasattr(os, "pidfd_open") else None
    if not isinstance(ours, int):
        return Features.without("pidfd", "inode", "handle", "exit_info", "peer_pidfd")
    try:
        return Features(
            pidfd=True,
            inode=_has_own_inodes(ours),
            handle=handle.learn_handles(ours) is not None,
            exit_info=info.ask(ours) is not None,
            peer_pidfd=_names_peers(),
        )
    finally:
        os.close(ours)


def _has_own_inodes(ours: int) -> bool:
    """Before pidfs all pidfds shared the one inode of anonymous files, and its device."""
    anonymous = os.eventfd(0, os.EFD_CLOEXEC)
    try:
        return os.fstat(ours).st_dev != os.fstat(anonymous).st_dev
    finally:
        os.close(anonymous)


def _names_peers() -> bool:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        try:
            os.close(one.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
        except OSError:
            return False
    return True
