"""The earlier tools' algorithms, a few lines each: the negative controls of the accidents.

Rules of this file
  1. Each is what an earlier tool really did, named with the accident it led to. None is a straw man.
  2. Each is run by the test of its accident on the same processes and files, and must give the wrong answer
     there: a test that the naive way passes proves nothing.
  3. None of them signals anybody. The one that killed by text gives the list of its victims.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

# --- false death -------------------------------------------------------------------------------------


def evicted_by_silence(last_heard: float, now: float, limit: float = 300.0) -> bool:
    """D1: quiet at the prompt for five minutes is dead."""
    return now - last_heard > limit


def robbed_for_a_missing_heartbeat(last_beat: float, now: float, limit: float = 900.0) -> bool:
    """D2: a heartbeat is sent by hooks, and one long tool call fires none."""
    return now - last_beat > limit


def stopped_by_scan(known: Iterable[int], scan: Iterable[int]) -> set[int]:
    """D3: whom the scan does not show has stopped."""
    return set(known) - set(scan)


KILL_ZERO = "import os, sys\ntry: os.kill(int(sys.argv[1]), 0)\nexcept OSError: sys.exit(1)"


def is_dead_by_any_error(pid: int, *as_user: str) -> bool:
    """D4: whatever error the probe gives is death, EPERM too."""
    return subprocess.run([*as_user, sys.executable, "-I", "-c", KILL_ZERO, str(pid)]).returncode != 0


def rows_or_nothing(query: Callable[[], list[str]]) -> list[str]:
    """D5: a failed query is an empty answer."""
    try:
        return query()
    except Exception:
        return []


class RegistryInMemory:
    """D6: what is running is known to the process that serves it, and to no process after it."""

    def __init__(self) -> None:
        self.sessions: dict[str, int] = {}


def start_by_saving(path: Path) -> dict[str, int]:
    """D7: the new process saves its (still empty) state first, and reads afterwards."""
    save_snapshot(path, {})
    loaded: dict[str, int] = json.loads(path.read_text())
    return loaded


def beyond_the_ceiling(started_at: float, now: float, ceiling: float = 86_400.0) -> bool:
    """D8: nothing lives longer than a day."""
    return now - started_at > ceiling


def save_snapshot(path: Path, sessions: dict[str, int], crash_after: str = "") -> None:
    """D9: the old file is emptied before the new one is written, and nothing is synced."""
    with path.open("w") as file:
        if crash_after == "truncate":
            return
        json.dump(sessions, file)


class RegistryById:
    """D10: an id has one entry, and the newest registration is it."""

    def __init__(self) -> None:
        self.by_id: dict[str, int] = {}

    def register(self, id: str, pid: int) -> None:
        self.by_id[id] = pid

    def living(self) -> set[int]:
        return set(self.by_id.values())


# --- false life --------------------------------------------------------------------------------------


def is_alive_by_kill_zero(pid: int) -> bool:
    """L1, L3: the pid answers, so the process is alive: but a zombie answers, and so does a process that reused the pid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def start_ticks(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()[19])
    except OSError:
        return None


def is_alive_by_pid_and_start(pid: int, started: int) -> bool:
    """L2: the same pid with the same start tick is the same process; a tick is 10 ms."""
    return start_ticks(pid) == started


class SessionsKeptFresh:
    """L4: any report keeps a session alive, whatever pid it names."""

    def __init__(self) -> None:
        self.touched: dict[str, tuple[int, float]] = {}

    def touch(self, id: str, pid: int, now: float) -> None:
        self.touched[id] = (pid, now)

    def is_alive(self, id: str, now: float) -> bool:
        pid, at = self.touched[id]
        return is_alive_by_kill_zero(pid) and now - at < 300


def is_active_without_pid(pid: int | None) -> bool:
    """L6: no pid, so nothing can be said against it."""
    return pid is None or is_alive_by_kill_zero(pid)


# --- identity ----------------------------------------------------------------------------------------


def loose_pid(value: str) -> int:
    """I8: Python's own idea of a number."""
    return int(json.loads(value)) if value in ("true", "false") else int(value)


def session_file(directory: Path, id: str) -> Path:
    """I8: the id is the name of the file."""
    return directory / f"{id}.json"


# --- the daemon --------------------------------------------------------------------------------------


class PidFile:
    """H1: the daemon runs if the pid in its file does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def may_start(self) -> bool:
        return not (self._path.exists() and is_alive_by_kill_zero(int(self._path.read_text())))

    def write(self, pid: int) -> None:
        self._path.write_text(str(pid))


def victims_of_start(pattern: str) -> set[int]:
    """H2: whom `pkill -f` would kill before a start. Only listed here."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if pattern in line:
                found.add(int(entry.name))
    return found


def is_running_by_socket_file(path: Path) -> bool:
    """H3: the file is there, so the daemon is."""
    return path.exists()


async def look_at_each(pids: Iterable[int]) -> None:
    """H4: one `ps` for each session, on the loop."""
    for pid in pids:
        subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True)


def needs_no_restart(answers: bool) -> bool:
    """H10: a daemon answers, so it is the one that is meant."""
    return answers


def is_well_by_pid(pid: int) -> bool:
    """H11: its process is there, so the daemon is well."""
    return is_alive_by_kill_zero(pid)


async def publish_to_all(queues: Iterable["asyncio.Queue[int]"], events: Iterable[int]) -> None:
    """H12: the publisher waits for room with every subscriber."""
    for event in events:
        for queue in queues:
            await queue.put(event)


def start_as_a_child(argv: list[str]) -> "subprocess.Popen[bytes]":
    """H16: started like any other command: a child with its parent's session and environment."""
    return subprocess.Popen(argv)


def is_dead_if_not_here(pid: int) -> bool:
    """H18: the pid does not exist here, so the process is dead."""
    return not Path(f"/proc/{pid}").exists()
