"""Output of every verb: JSON, notes on stderr, tracebacks in a file, and streams that may be closed.

Rules
  1. JSON is escaped to ASCII, so no foreign character reaches a terminal. One document is indented on a terminal only;
     streams are one line per event.
  2. What is not the answer itself goes to stderr.
  3. A closed standard stream is replaced by one that leads nowhere, so that no file or socket of ours gets its number.
  4. A failed write is remembered and the verb goes on: what was done decides the exit code. main.py reports it at the end.
  5. A verb that prints events without end calls `stream`: it ends when its reader is gone, also while nothing happens,
     and SIGTERM and SIGHUP unwind it, so that it ends what it started.
  6. A command that cannot be run is reported as shells do, with their exit codes.
  7. The traceback of an unexpected fault goes to a private file; people see one sentence.

Not here: tables and events for people (present/), running commands (actions/start_agent.py, commands/hold.py), exit codes
  and expected faults (main.py, client/faults.py).
"""

import io
import json
import os
import sys
import traceback
from types import FrameType
from typing import Any

from headcount.clean_text import clean
from headcount.client.daemon_access import DaemonAccess, reach
from headcount.paths import Places

NO_SUCH_COMMAND = 127
CANNOT_RUN = 126

NAME = "command.log"
MOST = 1_000_000


def client(*, autostart: bool = True) -> DaemonAccess:
    return reach(os.environ, autostart=autostart, say=note)


def note(line: str) -> None:
    from headcount.clean_text import clean

    print(clean(line), file=sys.stderr)


def print_document(data: object) -> None:
    print(json.dumps(data, indent=2 if sys.stdout.isatty() else None))


def print_fault(code: str, message: str, hint: str | None = None) -> None:
    """The wire's own form of an error, for programs that asked for JSON."""
    print(json.dumps({"error": {"code": code, "message": message, "hint": hint}}))


def print_line(data: object) -> None:
    """One line of NDJSON, out at once: the reader waits for it."""
    print(json.dumps(data), flush=True)


def print_lines(lines: list[str]) -> None:
    print("\n".join(lines))


def no_such(name: str) -> int:
    print(
        f"headcount: there is no command {clean(name)}. Is it installed, and on your PATH?", file=sys.stderr
    )
    return NO_SUCH_COMMAND


def cannot_run(name: str, error: OSError) -> int:
    print(
        f"headcount: {clean(name)} cannot be run: {error.strerror}. Is it a program, and executable?",
        file=sys.stderr,
    )
    return CANNOT_RUN


def write_traceback(error: Exception) -> str:
    """Append it to a private file in the log directory; returns where it is, or that it is nowhere."""
    places = Places.from_environ(os.environ)
    path = f"{places.log_directory}/{NAME}"
    text = "".join(traceback.format_exception(error))
    try:
        places.make()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(fd).st_size > MOST:
                os.ftruncate(fd, 0)
            os.write(fd, text.encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError as trouble:
        return f"no file, since {path} cannot be written ({trouble.strerror})"
    return path


class StreamEnded(BaseException):
    """A stream is over: by that signal, or (0) since nobody reads it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Output(io.FileIO):
    fault: OSError | None = None
    is_stream = False

    def write(self, data: Any) -> int:
        try:
            while (written := super().write(data)) is None:  # full, and somebody made it non-blocking
                from select import select

                select([], [self], [])
        except OSError as error:
            self.fault = self.fault or error
            if self.is_stream:
                self.is_stream = False  # once: what unwinds is not interrupted
                raise StreamEnded(0) from None
            return len(data)
        return written


def secure() -> None:
    """Done first: before anything is opened or printed."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(fd)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for fd, name in ((1, "stdout"), (2, "stderr")):
        was = getattr(sys, name)
        if was is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif was is getattr(sys, f"__{name}__"):  # a character that the terminal's encoding lacks is replaced
            raw = io.BufferedWriter(Output(fd, "w", closefd=False))
            at_once = was.line_buffering or was.write_through or fd == 2
            setattr(sys, name, io.TextIOWrapper(raw, was.encoding, "replace", line_buffering=at_once))


def fault() -> OSError | None:
    """Why something could not be written to stdout."""
    sys.stdout.flush()
    raw = _raw()
    return raw.fault if raw is not None else None


def stream() -> None:
    import signal
    from select import poll
    from threading import Thread, main_thread

    raw, to = _raw(), main_thread().ident
    if raw is None or to is None:  # a test's
        return
    if fault() is not None:  # of what was printed before
        raise StreamEnded(0)

    def end(number: int, frame: FrameType | None) -> None:
        if raw.is_stream:
            raw.is_stream = False
            raise StreamEnded(0 if number == signal.SIGUSR1 else number)

    def tell_when_unread() -> None:
        looked_at = poll()
        looked_at.register(raw.fileno(), 0)  # only errors and hang-ups are told
        looked_at.poll()
        signal.pthread_kill(to, signal.SIGUSR1)

    raw.is_stream = True
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        if signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, end)
    Thread(target=tell_when_unread, daemon=True).start()


def _raw() -> Output | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw if isinstance(raw, Output) else None
