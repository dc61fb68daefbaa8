"""Start the daemon as a detached process or through its systemd unit, and wait until a stopped one has ended.

Rules
  1. The daemon's environment is an allow-list. A daemon started inside an agent must carry neither its API key
     nor its marks, or it would outlive the agent as one of its leftovers (accident H16).
  2. The daemon itself says on a pipe when it is ready. A file that appeared proves nothing (H3).
  3. A starter that lost the race for the lock waits for the winner.
  4. A unit belongs to one state directory, named in its first line. It does not start another home's daemon.
  5. If our unit is installed it starts the daemon, which so stays supervised over an upgrade or a `down`. If
     systemd cannot be asked (a sandbox, a container), the daemon is started as everywhere else.
  6. systemctl runs only if the unit's file exists: without a unit the cost is one failed `open`.
  7. A daemon that no longer listens may still hold the lock and close its files. Where the kernel gives a
     handle, we wait for the process to exit.
  8. That handle is opened before the stop is requested, while the daemon answers, so it is the right process.

Not here: what the daemon does with the pipe (daemon/main.py), when to start or stop one
  (client/daemon_access.py), the unit's text (cli/actions/systemd_service.py), installing it
  (cli/commands/service.py).
"""

import fcntl
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from headcount import times
from headcount.clean_text import command
from headcount.client.faults import Broken, NotRunning, Unavailable
from headcount.client.transport.connection import Connection
from headcount.paths import Places
from headcount.private_files import open_to_append
from headcount.times import OTHER_PROGRAM_WITHIN

KEPT = frozenset({
    "HOME", "PATH", "USER", "LOGNAME", "LANG", "TMPDIR", "TMUX_TMPDIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
})  # fmt: skip
KEPT_PREFIXES = ("LC_", "XDG_", "HEADCOUNT_")
NEVER = frozenset({"HEADCOUNT_TOKEN_FILE"})  # names the agent that happened to start us

DAEMON = "headcount.daemon.main"
LOG_TAIL = 2_000
LINE_MOST = 4_096


Meanwhile = Callable[[], object] | None

NAME = "headcount.service"
MARK = "# Written by `headcount service install` for the state in "


def start(places: Places, env: Mapping[str, str], meanwhile: Meanwhile = None) -> None:
    """A daemon that answers, started by us or by somebody at the same time; else `Unavailable`. `meanwhile` is
    done while it gets ready: a third of a second in which its starter has nothing else to do."""
    if start_by_unit(env, places) and _answers_soon(places, time.monotonic() + times.START_AGAIN_AFTER):
        return
    deadline = time.monotonic() + times.READY_WITHIN
    while True:
        word = launch(places, env, deadline, meanwhile)
        if word == "ready":
            return
        if word != "busy":
            raise Unavailable(f"The headcount daemon did not start: {word}", f"Its log: {places.log}")
        if _answers_soon(places, min(deadline, time.monotonic() + times.START_AGAIN_AFTER)):
            return
        if time.monotonic() >= deadline:
            raise deaf_holder(places) or Unavailable(
                "A headcount daemon does not listen.", "See: headcount doctor"
            )


def launch(places: Places, env: Mapping[str, str], deadline: float, meanwhile: Meanwhile = None) -> str:
    """Start one daemon and return its word: `ready`, `busy`, or why it failed."""
    make(places)
    try:
        log = open_to_append(places.log)
    except OSError as error:
        raise _unusable(error, places) from error
    readable, writable = _pipe()
    try:
        try:
            child = subprocess.Popen(
                daemon_command("--ready-fd", str(writable)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writable,),
                cwd="/",
                env=allowed(env, places),
                start_new_session=True,
            )
        finally:
            os.close(log)
            os.close(writable)
        if meanwhile is not None:
            meanwhile()
        word = _first_line(readable, deadline)
    finally:
        os.close(readable)
    _forget(child)
    return _said(word, places)


def deaf_holder(places: Places) -> Unavailable | None:
    """That a daemon has this home and nobody can reach it; None: none has it, as far as the kernel says."""
    from headcount.daemon.home.single_instance import holder_of

    pid = holder_of(Path(places.lock))
    if pid is None:
        return None
    what = f"The daemon (pid {pid}) has {places.state} and does not listen on {places.socket}."
    return Unavailable(what, f"If this stays, end it: {command('kill', str(pid))}. Its log: {places.log}")


def make(places: Places) -> None:
    """The directories; what cannot be made is said with the way out."""
    try:
        places.make()
    except OSError as error:
        raise _unusable(error, places) from error


def _unusable(error: OSError, places: Places) -> Unavailable:
    own = "Headcount needs a directory of its own: set HEADCOUNT_HOME to one that you can write."
    return Unavailable(
        f"{error.filename or places.state} cannot be used: {error.strerror}.",
        None if "chmod" in str(error.strerror) else own,  # it says already what to do
    )


def _pipe() -> tuple[int, int]:
    """Neither end has the number of a standard stream: the daemon gets others, and our caller may have closed its own."""
    ends = os.pipe()
    readable, writable = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends)
    for end in ends:
        os.close(end)
    return readable, writable


def daemon_command(*arguments: str) -> list[str]:
    # -E and -P: neither PYTHONPATH nor the directory one stands in decides which code runs as the daemon
    return [sys.executable, "-E", "-P", "-m", DAEMON, *arguments]


def allowed(env: Mapping[str, str], places: Places) -> dict[str, str]:
    kept = {
        name: value
        for name, value in env.items()
        if (name in KEPT or name.startswith(KEPT_PREFIXES)) and name not in NEVER
    }
    if places.home is not None:
        kept["HEADCOUNT_HOME"] = places.home  # made absolute: the daemon stands in `/`
    return kept


def log_tail(path: str) -> str:
    """The last lines of the log, for people; empty when there is none."""
    try:
        with open(path, "rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - LOG_TAIL))
            return log.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _said(word: str | None, places: Places) -> str:
    if word in ("ready", "busy"):
        return word
    if word is None:
        return f"no word from it within {times.READY_WITHIN:.0f} s."
    if word:
        return word.removeprefix("failed:").strip()
    last = log_tail(places.log).splitlines()[-1:]
    return f"it ended at once. {last[0]}" if last else "it ended at once and said nothing."


def _first_line(fd: int, deadline: float) -> str | None:
    """The line, empty when the pipe ended without one, None when the deadline came first."""
    got = b""
    while b"\n" not in got and len(got) < LINE_MOST:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        piece = os.read(fd, LINE_MOST)
        if not piece:
            break
        got += piece
    return got.split(b"\n")[0].decode("utf-8", "replace").strip()


def _forget(child: "subprocess.Popen[bytes]") -> None:
    """Reap the child, which has forked the daemon and left. One that hangs stays init's business."""
    try:
        child.wait(timeout=times.START_AGAIN_AFTER)
    except subprocess.TimeoutExpired:
        child.returncode = 0  # keeps Popen from warning about a child that is meant to live on


def _answers_soon(places: Places, until: float) -> bool:
    connection = Connection(places.socket)
    try:
        while time.monotonic() < until:
            try:
                return connection.call("GET", "/healthz").status == 200
            except (NotRunning, Broken):
                time.sleep(times.CONNECT_RETRY_EVERY)
        return False
    finally:
        connection.close()


def unit_path(env: Mapping[str, str]) -> str:
    config = env.get("XDG_CONFIG_HOME", "")
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    return f"{config if config.startswith('/') else home + '/.config'}/systemd/user/{NAME}"


def first_line(places: Places) -> str:
    return f"{MARK}{places.state}"


def is_installed(env: Mapping[str, str], places: Places) -> bool:
    """Whether the unit there is ours and of this home."""
    try:
        with open(unit_path(env), encoding="utf-8", errors="replace") as unit:
            return unit.readline().rstrip("\n") == first_line(places)
    except OSError:
        return False


def start_by_unit(env: Mapping[str, str], places: Places) -> bool:
    """True: the daemon is up, started by systemd (a unit of type notify is started when it is ready)."""
    return is_installed(env, places) and systemctl("start", NAME).ok


class SystemctlResult:
    """What systemctl answered; `ok` is its exit code, in words otherwise."""

    def __init__(self, ok: bool, text: str) -> None:
        self.ok = ok
        self.text = text


def systemctl(*words: str) -> SystemctlResult:
    try:
        done = subprocess.run(
            ["systemctl", "--user", "--no-pager", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=OTHER_PROGRAM_WITHIN,
        )  # fmt: skip
    except FileNotFoundError:
        return SystemctlResult(False, "there is no systemctl")
    except (OSError, subprocess.TimeoutExpired) as error:
        return SystemctlResult(False, str(error))
    return SystemctlResult(
        done.returncode == 0, (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip()
    )


class Departure:
    def __init__(self, pid: object, socket: str) -> None:
        self._socket = socket
        self._handle: int | None = None
        if isinstance(pid, int) and hasattr(os, "pidfd_open"):
            try:
                self._handle = os.pidfd_open(pid)
            except OSError:  # another pid namespace, no descriptor, an old kernel
                self._handle = None

    def __enter__(self) -> "Departure":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def wait(self) -> None:
        """Until it is gone; `Unavailable` when it is not within STOP_WITHIN."""
        gone = self._exited() if self._handle is not None else self._silent()
        if not gone:
            raise Unavailable(
                f"The daemon was asked to stop and is still there after {times.STOP_WITHIN:.0f} s.",
                "See: headcount doctor",
            )

    def _exited(self) -> bool:
        assert self._handle is not None
        readable, _, _ = select.select([self._handle], [], [], times.STOP_WITHIN)
        return bool(readable)

    def _silent(self) -> bool:
        deadline = time.monotonic() + times.STOP_WITHIN
        probe = Connection(self._socket)
        while time.monotonic() < deadline:
            try:
                probe.call("GET", "/healthz")
            except NotRunning:
                return True
            except Broken:
                pass
            finally:
                probe.close()
            time.sleep(times.CONNECT_RETRY_EVERY)
        return False
