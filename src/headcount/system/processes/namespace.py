"""In which pid namespace another process lives.

Rules of this file
  1. What cannot be read is None: nothing is said of it.
  2. The answer is about the pid's present owner; whether that is still the one that was meant is for the
     caller to verify afterwards.

Not here: our own namespace (boot_and_namespace.py).
"""

from pathlib import Path


def namespace_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None
