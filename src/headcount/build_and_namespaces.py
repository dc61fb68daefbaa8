"""Where a Headcount process comes from: its installation, the state of its code, its namespaces.

Rules
  1. An installation is the directory of the package. Its build changes with any of its files (name, size, time of
     change), so that an upgrade in a checkout shows although the version stays the same.
  2. The daemon takes its build before it imports the rest, so that it never claims newer code than it runs. A client
     compares that with what is installed at that moment, not with the code it runs itself: it may be older than both.
  3. What cannot be read is empty: a process without `/proc` does not know its namespaces.
  4. Imports next to nothing: the command line's hot path reads it.

Not here: what follows from a difference (client/daemon_access.py, client/daemon_process.py).
"""

import os
from functools import cache
from typing import NamedTuple
from zlib import crc32

HEADER = "headcount-origin"
INITIAL = "4026531836.4026531837"  # the first pid and user namespace of every boot (linux/proc_ns.h)
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class BuildOrigin(NamedTuple):
    build: str
    namespaces: str  # pid.user
    installation: str  # a digest of its directory: other users may see an answer's head

    def to_header(self) -> str:
        return f"{self.build} {self.namespaces} {self.installation}"


def from_header(text: str | None) -> BuildOrigin | None:
    """None: a daemon from before there were builds."""
    parts = (text or "").split(" ")
    return BuildOrigin(*parts) if len(parts) == 3 else None


@cache
def ours() -> BuildOrigin:
    """Of this process, since its start."""
    return BuildOrigin(installed(), namespaces(), installation())


def installed() -> str:
    """The build that lies on the disk now; empty: it cannot be read, as inside an archive."""
    try:
        return f"{crc32(repr(sorted(_files(_package()))).encode()):08x}"
    except OSError:
        return ""


@cache
def installation() -> str:
    return f"{crc32(os.fsencode(_package())):08x}"


@cache
def namespaces() -> str:
    try:
        return ".".join(str(os.stat(f"/proc/self/ns/{kind}").st_ino) for kind in ("pid", "user"))  # noqa: PTH116
    except OSError:
        return ""


def record(path: str) -> None:
    """Remember in which namespaces of this boot the daemon of a home runs."""
    from headcount.private_files import open_anew

    try:
        fd = open_anew(path)
    except OSError:
        return  # a directory in its place, or a disk that is full: first use is then allowed anywhere
    try:
        os.write(fd, f"{_boot()} {namespaces()}\n".encode())
    finally:
        os.close(fd)


def is_foreign(path: str, *, openly: bool) -> bool:
    """Whether no daemon may be started here for that home, because the one before ran in other namespaces of this boot.

    From the initial namespaces it always may: what runs elsewhere can be seen and replaced from there. A home of the
    initial ones is never taken over from inside a sandbox, also not by `up` (`openly`). A home of another sandbox or
    container may be the own one of a container that was started again: by `up`, or where the user namespace is the same."""
    from headcount.private_files import read

    try:
        boot, _, there = read(path, 200).decode("ascii", "replace").strip().partition(" ")
    except OSError:
        return False
    here = namespaces()
    if _boot() not in ("", boot) or here in (there, INITIAL):
        return False
    if there == INITIAL or not here:
        return True
    return not (openly or _users(here) == _users(there))


def is_enclosed(theirs: BuildOrigin | None, pid: int) -> bool:
    """Whether a daemon runs in namespaces below ours, in a sandbox or a container: the kernel shows us its pid, and our
    user namespace is the initial one or the same as its own."""
    here = namespaces()
    if theirs is None or not pid or not here or theirs.namespaces == here:
        return False
    if not theirs.namespaces:  # it has no /proc, as in a sandbox without one
        return True
    return _users(here) in (_users(theirs.namespaces), _users(INITIAL))


def _users(namespaces: str) -> str:
    return namespaces.partition(".")[2]


def _package() -> str:
    return os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 (pathlib costs more than this)


def _files(directory: str) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name == "__pycache__" or entry.name.startswith(
                "."
            ):  # an editor's swap file is no upgrade
                continue
            if entry.is_dir(follow_symlinks=False):
                found += [(f"{entry.name}/{name}", size, at) for name, size, at in _files(entry.path)]
            else:
                facts = entry.stat()
                found.append((entry.name, facts.st_size, facts.st_mtime_ns))
    return found


def _boot() -> str:
    try:
        with open(BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
