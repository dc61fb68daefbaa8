"""Entry point of the daemon process: detach, take the lock, open the log, run, and report readiness.

Rules
  1. The process detaches: it forks once more, has no terminal, works in `/` and with umask 077.
  2. A start goes in this order: lock, log, store, world, proofs, first commit, listeners, ready. Recovery
     reads before anything writes.
  3. An orderly stop answers within two seconds, also with open streams.
  4. Each log line is one JSON object: at, level, from, message, and the trace of a fault. The log is rotated.
  5. The log is a plain file of ours. A link or a pipe in its place is removed.
  6. No prompt, payload, header or token is ever logged. Callers log kinds, counts and pids. A trace names the
     places and kinds of its faults, not their messages, which may quote what was being read.

Not here: constructing the parts (daemon/composition.py), starting the process (client/daemon_process.py).
"""

import asyncio
import contextlib
import gc
import json
import logging
import logging.handlers
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headcount import __version__, build_and_namespaces
from headcount.paths import Places
from headcount.private_files import open_to_append
from headcount.times import WELL_AFTER

if TYPE_CHECKING:
    from headcount.daemon.home.single_instance import SingleInstance

log = logging.getLogger("headcount.main")

EXIT_USAGE = 2
EXIT_BUSY = 75
USAGE = (
    "usage: python -m headcount.daemon.main [--foreground] [--ready-fd FD]; people start it by: headcount up"
)
RESTARTS = "HEADCOUNT_RESTARTS"
RESTARTS_MOST = 3
GARBAGE_AFTER = 10_000  # objects more than were freed; Python's own 700 is once for every few requests

SIZE_MOST = 2 * 1024 * 1024
KEPT = 3
CAUSES_MOST = 8


def main() -> int:
    build_and_namespaces.ours()  # before the code that it names is imported
    args = arguments(sys.argv[1:])
    if args is None:
        print(USAGE, file=sys.stderr)
        return EXIT_USAGE
    if not args.foreground:
        _detach()
    os.umask(0o077)
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return _serve(ReadySignal(args.ready_fd), tell=args.foreground)


class DaemonArguments(NamedTuple):
    foreground: bool
    ready_fd: int | None


def arguments(words: list[str]) -> DaemonArguments | None:
    """Of whoever starts it, which is `headcount up`; None: they are others. A parser for people costs half a
    megabyte."""
    foreground, ready_fd, rest = False, None, iter(words)
    for word in rest:
        if word == "--foreground":
            foreground = True
        elif word == "--ready-fd" and (number := next(rest, "")).isdecimal():
            ready_fd = int(number)
        else:
            return None
    return DaemonArguments(foreground, ready_fd)


def _detach() -> None:
    """The first child ends at once, so that the daemon is nobody's child (accident H16)."""
    if os.fork() > 0:
        os._exit(0)


class ReadySignal:
    """The one line that a starter waits for."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def say(self, line: str) -> None:
        if self._fd is None:
            return
        with contextlib.suppress(OSError):
            os.write(self._fd, f"{line}\n".encode())
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = None

    def passed_on(self) -> list[str]:
        """For a new program in this process that is to say it instead."""
        return [] if self._fd is None else ["--ready-fd", str(self._fd)]


def _serve(word: ReadySignal, *, tell: bool) -> int:
    """Whatever keeps it from starting, a read-only disk too, is said to whoever waits."""
    try:
        return _serve_alone(word, tell)
    except Exception as fault:
        log.exception("headcount ends by a fault")
        word.say(f"failed: {fault}")
        print(f"headcount: {fault}", file=sys.stderr)
        return 1


def _serve_alone(word: ReadySignal, tell: bool) -> int:
    from headcount.daemon.home.single_instance import SingleInstance, holder_of

    places = Places.from_environ(os.environ)
    places.make()
    lock = SingleInstance.take(Path(places.lock))
    if lock is None:
        word.say("busy")
        if tell:  # a detached one's starter asks the one that serves
            _tell_who(holder_of(Path(places.lock)), places.state)
        return EXIT_BUSY
    build_and_namespaces.record(places.record)
    gc.disable()  # nothing that a start makes is garbage, and looking for some is a tenth of it
    from headcount.daemon.composition import StoreDamaged, run

    def ready() -> None:
        word.say("ready")
        _collect_seldom()

    open_log(Path(places.log))
    began = time.monotonic()
    try:
        asyncio.run(run(places, ready))
    except StoreDamaged:
        _start_anew(lock, word, restarts_before(os.environ, time.monotonic() - began))
    log.info("headcount %s stopped", __version__)
    return 0


def _tell_who(pid: int | None, state: str) -> None:
    who = "Another daemon" if pid is None else f"Another daemon (pid {pid})"
    print(f"headcount: {who} serves {state} already. See: headcount status", file=sys.stderr)


def _collect_seldom() -> None:
    """What the start made stays for good: it is never looked through again."""
    gc.freeze()
    gc.set_threshold(GARBAGE_AFTER)
    gc.enable()


def restarts_before(env: Mapping[str, str], served: float) -> int:
    """How many in a row. Whoever was well for a while begins a new row."""
    said = env.get(RESTARTS, "")
    return int(said) if said.isascii() and said.isdigit() and served < WELL_AFTER else 0


def _start_anew(lock: "SingleInstance", word: ReadySignal, times: int) -> None:
    """The same process, a new program: it sets the damaged store aside. Not for ever, if disks are bad."""
    if times >= RESTARTS_MOST:
        log.critical("the store was damaged %d times in a row; headcount ends", times)
        return
    log.critical("the store is damaged; starting anew to set it aside")
    lock.release()
    environment = {**os.environ, RESTARTS: str(times + 1)}
    command = [sys.executable, "-P", "-m", "headcount.daemon.main", "--foreground", *word.passed_on()]
    os.execve(sys.executable, command, environment)  # noqa: S606 (no shell is the point)


class OwnFile(logging.handlers.RotatingFileHandler):
    """Writes through nothing that was put in the place of the log."""

    def _open(self) -> TextIOWrapper:
        return open(open_to_append(self.baseFilename), "a", encoding=self.encoding)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "at": at,
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = _trace(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True)


def _trace(fault: BaseException | None) -> str:
    told: list[str] = []
    while fault is not None and len(told) < CAUSES_MOST:
        why = f": {fault.strerror}" if isinstance(fault, OSError) and fault.strerror else ""
        told.append(f"{''.join(traceback.format_tb(fault.__traceback__))}{type(fault).__name__}{why}")
        fault = fault.__cause__ or fault.__context__
    return "\n".join(reversed(told))


def open_log(path: Path) -> None:
    handler = OwnFile(path, maxBytes=SIZE_MOST, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


if __name__ == "__main__":
    sys.exit(main())
