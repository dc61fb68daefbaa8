"""Which machine, boot and pid namespace this is, and in which pid namespace another process lives.

Rules
  1. A boot is named only by the kernel's own name for it. Never by a time: the wall clock moves, and a boot
     that seems over would end every session.
  2. A machine without an id is named by its host name. That is enough to tell a restart of ours from a disk
     that was carried to another machine.
  3. A namespace that cannot be read is None, and nothing follows from it.
  4. `namespace_of` describes the pid's present owner. The caller must verify afterwards that this is still the
     intended process.

Not here: what follows from another boot or namespace (core/values/verdict.py).
"""

import ctypes
import os
import sys
from pathlib import Path

from headcount.core.values.process import BootAndNamespace
from headcount.system import libc

MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
OUR_NAMESPACE = Path("/proc/self/ns/pid")

FOREIGN_PROC = "/proc shows another pid namespace"

NO_MACHINE = ""
"""For an identity that is only watched: its machine is unknown, so another boot proves nothing."""

NO_BOOT_ID = "unnamed"
"""For a system that does not name its boots: a reboot is never concluded from the name; remembered pids and
start times decide alone."""


def read_place() -> BootAndNamespace:
    return BootAndNamespace(machine=_machine(), boot=_boot(), namespace=_namespace())


def proc_is_ours() -> bool:
    """Whether /proc shows our own pid namespace. If not, its numbers are other processes' numbers."""
    try:
        return Path("/proc/self").readlink() == Path(str(os.getpid()))
    except OSError:
        return False


def _machine() -> str:
    for path in MACHINE_IDS:
        text = _text(path)
        if text:
            return text
    return os.uname().nodename


def _boot() -> str:
    return _text(BOOT_ID) or (_darwin_boot() if sys.platform == "darwin" else "") or NO_BOOT_ID


def _namespace() -> int:
    try:
        return OUR_NAMESPACE.stat().st_ino
    except OSError:
        return 0  # a system without pid namespaces: one namespace for all


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _darwin_boot() -> str:
    buffer = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(buffer))
    try:
        libc.call(
            "sysctlbyname", b"kern.bootsessionuuid", buffer, ctypes.byref(size), None, ctypes.c_size_t(0)
        )
    except OSError:
        return ""
    return buffer.value.decode("ascii", "replace")


def namespace_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None
