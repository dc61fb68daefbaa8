"""Kernel features for identifying processes, found by trying each once.

Rules
  1. A feature is there when it worked on ourselves. Version numbers are not read: kernels are patched.
  2. Probing leaves nothing open.
  3. Every feature can be switched off, so that tests and `HEADCOUNT_WITHOUT` show older kernels.
  4. A feature is used only when it is both allowed and found by `probe`.
  5. Without `pidfd` there is neither inode nor exit information: they depend on it.

Not here: how a feature is used (calls.py, handle.py), what is used without pidfds (processes/choose.py).
"""

import os
import socket

from msgspec import Struct
from msgspec.structs import fields, replace

from headcount.system.processes.pidfds import calls

SO_PEERPIDFD = 77  # asm-generic/socket.h


class Features(Struct, frozen=True):
    pidfd: bool = True  # Linux 5.3: a descriptor that pins a process and reports its end
    inode: bool = True  # Linux 6.9: the descriptor's inode is unique per boot
    exit_info: bool = True  # Linux 6.15: the exit status of a process that was already reaped
    peer_pidfd: bool = True  # Linux 6.5: a socket names its peer by a descriptor

    @classmethod
    def without(cls, *names: str) -> "Features":
        """All features but these. An unknown name is an error, so that a typo cannot switch a test off."""
        unknown = sorted(set(names) - set(cls.names()))
        if unknown:
            raise ValueError(f"no such feature: {', '.join(unknown)} (there are: {', '.join(cls.names())})")
        return replace(cls(), **dict.fromkeys(names, False))

    @classmethod
    def from_text(cls, switched_off: str) -> "Features":
        """From a list like `pidfd,inode`, as HEADCOUNT_WITHOUT has it; empty: everything is allowed."""
        return cls.without(*(name.strip() for name in switched_off.split(",") if name.strip()))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))

    def __and__(self, other: "Features") -> "Features":
        both = {name: getattr(self, name) and getattr(other, name) for name in self.names()}
        if not both["pidfd"]:
            both.update(inode=False, exit_info=False)
        return Features(**both)


def probe() -> Features:
    ours = calls.open_pidfd(os.getpid()) if hasattr(os, "pidfd_open") else None
    if not isinstance(ours, int):
        return Features.without(*Features.names())
    try:
        return Features(
            pidfd=True,
            inode=_has_own_inodes(ours),
            exit_info=calls.ask(ours) is not None,
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
