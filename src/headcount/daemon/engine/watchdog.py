"""End the daemon when its event loop no longer answers, and report its state to systemd (sd_notify).

Rules
  1. Unanswered questions are counted, not seconds. While the machine sleeps or the daemon is stopped no
     question is asked either, so neither looks like a hung loop.
  2. A hung loop is worse than no daemon: the stacks are logged and the process ends. What was answered is on
     disk, and the next contact starts a daemon that proves everything again.
  3. Changes that nobody reports (a lowered limit of open files, a home moved with the directory above it) are
     checked together with the question, so that nothing else wakes the daemon for them.
  4. Without NOTIFY_SOCKET nothing is sent to systemd.

Not here: those checks (daemon/home/home_watch.py, system/processes/pidfds/watches.py).
"""

import asyncio
import faulthandler
import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headcount.private_files import open_anew
from headcount.times import WATCHDOG_EVERY, WATCHDOG_STRIKES

log = logging.getLogger("headcount.watchdog")

DEAF = 70  # exit code of a daemon that ended itself


def notify(state: str) -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.sendto(state.encode(), address.replace("@", "\0", 1))
        except OSError:
            return  # a supervisor that does not listen must not hurt the supervised


class Watchdog:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        stacks: Path,
        *looks: Callable[[], object],
        every: float = WATCHDOG_EVERY,
        on_alive: Callable[[], None] = lambda: None,
        give_up: Callable[[int], None] = os._exit,
    ) -> None:
        self._loop = loop
        self._stacks = stacks
        self._looks = looks
        self._every = every
        self._on_alive = on_alive
        self._give_up = give_up
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        strikes = 0
        while not self._stop.is_set():
            answered = threading.Event()
            try:
                self._loop.call_soon_threadsafe(self._answer, answered)
            except RuntimeError:
                return  # the loop is closed: an orderly end
            if self._stop.wait(self._every):
                return
            strikes = 0 if answered.is_set() else strikes + 1
            if strikes == 0:
                self._on_alive()
            if strikes >= WATCHDOG_STRIKES:
                self._end()
                return

    def _answer(self, answered: threading.Event) -> None:
        answered.set()
        for look in self._looks:
            look()

    def _end(self) -> None:
        log.critical("the loop did not answer %d times in a row; ending", WATCHDOG_STRIKES)
        with suppress(OSError), open(open_anew(str(self._stacks)), "w") as file:  # its place may be gone
            faulthandler.dump_traceback(file)
        self._give_up(DEAF)
