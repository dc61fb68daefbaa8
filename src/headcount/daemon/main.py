"""The composition root: the only place that constructs.

Rules of this file
  1. Order of a start: lock, log, store, world, proofs, first commit, listeners, ready. Recovery
     reads before anything writes.
  2. Detached: forked once more, in no terminal, in `/`, with umask 077.
  3. An orderly stop answers within two seconds, also with streams open.

Not here: what the parts do.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

from headcount import __version__
from headcount.paths import Places

log = logging.getLogger("headcount.main")

EXIT_BUSY = 75


def main() -> int:
    parser = argparse.ArgumentParser(prog="headcount.daemon.main")
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--foreground", action="store_true")
    args = parser.parse_args()
    if not args.foreground:
        _detach()
    os.umask(0o077)
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return _serve(Word(args.ready_fd))


def _detach() -> None:
    """The first child ends at once, so that the daemon is nobody's child (accident H16)."""
    if os.fork() > 0:
        os._exit(0)


class Word:
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


def _serve(word: Word) -> int:
    from headcount.daemon.singleton import Singleton

    places = Places.from_environ(os.environ)
    places.make()
    lock = Singleton.take(Path(places.lock))
    if lock is None:
        word.say("busy")
        return EXIT_BUSY
    try:
        from headcount.daemon.logs import open_log
        from headcount.daemon.running import run

        open_log(Path(places.log))
        asyncio.run(run(places, lambda: word.say("ready")))
    except Exception as fault:
        log.exception("headcount ends by a fault")
        word.say(f"failed: {fault}")
        print(f"headcount: {fault}", file=sys.stderr)
        return 1
    log.info("headcount %s stopped", __version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
