"""Printing for programs and asking the daemon: what every verb needs.

A command that was to be run and could not be: said as shells say it, with their exit codes.

Crashes: where the traceback of an unexpected fault goes, so that people need not read it.

Standard streams that fail no verb: what was done decides the exit code, not whether anybody can read of it.

Rules
  1. JSON is ASCII: escaped, so no foreign character reaches a terminal as itself. One document is indented on
     a terminal only; streams are one line an event.
  2. What is said beside the answer goes to stderr.
  3. A stream that was closed leads nowhere, and no file or socket of ours takes its number.
  4. A write that fails is remembered, and the verb goes on; main.py says so at the end.
  5. A verb that tells of events for ever calls `stream`: it ends when nobody reads it any more, also while
     nothing happens, and SIGTERM and SIGHUP unwind it, so that it ends what it started.

Not here: tables (present/table.py), events for people (present/event_lines.py); running it
  (cli/actions/start_agent.py, commands/hold.py); expected faults (client/faults.py), the sentence (main.py);
  exit codes (main.py), what is printed (output.py).
"""

import io
import json
import os
import sys
import traceback
from types import FrameType
from typing import Any

from headcount.client.daemon_access import Client, reach
from headcount.paths import Places
from headcount.present.clean_text import clean


def client(*, autostart: bool = True) -> Client:
    return reach(os.environ, autostart=autostart, say=note)


def note(line: str) -> None:
    from headcount.present.clean_text import clean

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


NO_SUCH_COMMAND = 127
CANNOT_RUN = 126


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


NAME = "command.log"
MOST = 1_000_000


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


class Ended(BaseException):
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
                raise Ended(0) from None
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
        raise Ended(0)

    def end(number: int, frame: FrameType | None) -> None:
        if raw.is_stream:
            raw.is_stream = False
            raise Ended(0 if number == signal.SIGUSR1 else number)

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
