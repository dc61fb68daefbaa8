"""Facts: what `doctor` looks at, collected once, without starting or changing anything.

Rules
  1. Reading only: no directory is made, no daemon started, no file touched.
  2. What cannot be seen is None, which is not the same as nothing.

Not here: what it means (findings.py).
"""

import json
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount import build_and_namespaces
from headcount.client.daemon_access import VERSION_HEADER
from headcount.client.faults import ClientFault, NotRunning
from headcount.client.transport.connection import Connection
from headcount.daemon.home.single_instance import holder_of
from headcount.daemon.home.store_marks import why_lost
from headcount.paths import Places

if TYPE_CHECKING:
    from headcount.wire.views import Status

TAIL = 65_536
BAD_LEVELS = ("error", "critical")
LINE_MOST = 160


@dataclass(frozen=True, slots=True)
class FileFacts:
    kind: str  # directory, socket, file, other
    mode: int
    ours: bool


@dataclass(frozen=True, slots=True)
class HookFacts:
    label: str
    settings: str
    state: str  # installed, partial, outdated, absent, unreadable
    note: str
    inactive: str = ""  # why its agent does not run them, although they are installed


def _no_status() -> "Status":
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    running: bool  # somebody listens
    fault: ClientFault | None = None  # why there was no answer
    took: float = 0.0  # seconds to the answer
    version: str | None = None
    origin: "build_and_namespaces.BuildOrigin | None" = None
    pid: int | None = None  # of the daemon, as seen from here
    status: "Status" = field(default_factory=_no_status)
    socket: FileFacts | None
    state: FileFacts | None
    mailbox: FileFacts | None
    flag: bool
    waiting: int | None  # files in the mailbox
    oldest: float | None  # seconds since the oldest of them was written
    free: int | None  # bytes on the disk of the state directory
    descriptors: tuple[int, int] | None  # open and allowed, of the daemon
    errors: tuple[str, ...] = ()  # lines of the log's tail
    hooks: tuple[HookFacts, ...] = ()  # one for each settings file of an agent
    lost: str | None = None  # what became of the store that was served from here, while no daemon says it
    holder: int | None = None  # the pid that has the home's lock
    locked: str | None = None  # the directory that keeps us from having one of our own
    places: Places


def examine(env: Mapping[str, str]) -> Facts:
    places = Places.from_environ(env)
    seen = _asked(places)
    waiting, oldest = _mailbox(places)
    nearest = _nearest(places.state)
    return Facts(
        **seen,
        socket=_file(places.socket),
        state=_file(places.state),
        mailbox=_file(places.mailbox),
        flag=_file(places.flag) is not None,
        lost=None if seen.get("status") else why_lost(places),
        holder=holder_of(Path(places.lock)),
        locked=_locked(nearest),
        waiting=waiting,
        oldest=oldest,
        free=_free(nearest),
        descriptors=_descriptors(seen.get("pid")),
        errors=bad_lines(_tail(places.log)),
        hooks=_hooks(),
        places=places,
    )


def _nearest(path: str) -> str:
    """The directory itself, or the nearest one above it that is there."""
    place = os.path.abspath(path)  # noqa: PTH100
    while not os.path.isdir(place) and place != os.path.dirname(place):  # noqa: PTH112, PTH120
        place = os.path.dirname(place)  # noqa: PTH120
    return place


def _locked(directory: str) -> str | None:
    """It, if nothing can be made in it."""
    return None if os.access(directory, os.W_OK | os.X_OK) else directory


def bad_lines(tail: str) -> tuple[str, ...]:
    """What went wrong, in one line each: of structured lines those of bad levels, of others the tracebacks."""
    return tuple(bad[:LINE_MOST] for bad in map(_bad_line, tail.splitlines()) if bad)


def _bad_line(line: str) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return line if line.startswith("Traceback (") else ""
    if not isinstance(entry, dict) or entry.get("level") not in BAD_LEVELS:
        return ""
    cause = str(entry.get("trace") or "").strip().splitlines()[-1:]
    return ": ".join([str(entry.get("message")).strip(), *cause])


def _asked(places: Places) -> dict[str, Any]:
    """What the daemon's answer shows, as fields of the facts."""
    connection = Connection(places.socket)
    began = time.monotonic()
    try:
        answer = connection.call("GET", "/v1/status")
    except NotRunning as fault:
        return {"running": False, "fault": fault}
    except ClientFault as fault:
        return {"running": True, "fault": fault, "took": time.monotonic() - began}
    finally:
        connection.close()
    status = answer.data if answer.status == 200 and isinstance(answer.data, dict) else {}
    return {
        "running": True,
        "took": time.monotonic() - began,
        "version": answer.headers.get(VERSION_HEADER),
        "origin": build_and_namespaces.from_header(answer.headers.get(build_and_namespaces.HEADER)),
        "pid": connection.daemon_pid or status.get("pid"),
        "status": status,
    }


def _file(path: str) -> FileFacts | None:
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    kinds = ((stat.S_ISDIR, "directory"), (stat.S_ISSOCK, "socket"), (stat.S_ISREG, "file"))
    kind = next((word for test, word in kinds if test(seen.st_mode)), "other")
    return FileFacts(kind, stat.S_IMODE(seen.st_mode), seen.st_uid == os.getuid())


def _mailbox(places: Places) -> tuple[int | None, float | None]:
    try:
        written = _written(places.mailbox)
    except FileNotFoundError:
        return 0, None  # also: a report was read while we looked
    except OSError:
        return None, None
    return len(written), time.time() - min(written) if written else None


def _written(directory: str) -> list[float]:
    """When each report there was written, also those in the directories of other agents."""
    written = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name[:1] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                written += _written(entry.path)
            else:
                written.append(entry.stat(follow_symlinks=False).st_mtime)
    return written


def _free(directory: str) -> int | None:
    try:
        room = os.statvfs(directory)
    except OSError:
        return None
    return room.f_bavail * room.f_frsize


def _hooks() -> tuple[HookFacts, ...]:
    from headcount.cli.actions.hook_setup import labelled_standings

    try:
        return tuple(
            HookFacts(label, str(each.settings), each.state.value, each.note, each.inactive)
            for label, each in labelled_standings()
        )
    except ClientFault:  # our own configuration is broken; the daemon says so at its start
        return ()


def _descriptors(pid: object) -> tuple[int, int] | None:
    """Open and allowed files of the daemon, where the kernel says."""
    if not isinstance(pid, int):
        return None
    try:
        used = len(os.listdir(f"/proc/{pid}/fd"))
        with open(f"/proc/{pid}/limits", encoding="ascii") as limits:
            line = next(line for line in limits if line.startswith("Max open files"))
        return used, int(line.split()[3])
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - TAIL))
            return log.read().decode("utf-8", "replace")
    except OSError:
        return ""
