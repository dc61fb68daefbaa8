"""Standard streams that fail no verb: what was done decides the exit code, not whether anybody can read of it.

Rules of this file
  1. A stream that was closed leads nowhere, and no file or socket of ours takes its number.
  2. A write that fails is remembered, and the verb goes on; main.py says so at the end.
  3. A verb that tells of events for ever calls `stream`: it ends when nobody reads it any more, also while nothing
     happens, and SIGTERM and SIGHUP unwind it, so that it ends what it started.

Not here: exit codes (main.py), what is printed (output.py).
"""

import io
import os
import sys
from types import FrameType
from typing import Any


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
