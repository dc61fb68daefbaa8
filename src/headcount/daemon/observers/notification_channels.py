"""Send notices to the desktop, or to a command of the user's choice. Each channel has its own thread.

Rules
  1. A channel's thread ends with the process: a command that hangs delays neither the loop nor an orderly stop.
  2. Notices that come together are sent together, once. If that fails, the log says so.
  3. The queue is bounded: beyond LINE_MOST the oldest notices are dropped.
  4. Texts are arguments, never part of a script or an option: `--` ends options, AppleScript gets them as argv.
  5. Notification servers read a few tags in the body, so `&<>` are written as entities.
  6. Every program that is run has a deadline.

Not here: which notices are sent (daemon/observers/notifications.py), what they say (core/notifications.py).
"""

import json
import logging
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from msgspec import Struct

from headcount.daemon.config import Config
from headcount.times import NOTICE_GATHER, NOTICE_WITHIN

log = logging.getLogger("headcount.notify")

SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
LINE_MOST = 1_000
SHOWN_MOST = 3  # of those that come together, a desktop shows as many; the others in one

Row = dict[str, object]  # a notice, as it is sent
Send = Callable[[Sequence[Row]], str | None]
"""Sends notices. None: delivered. Else why not."""


class _Parcel(Struct):
    rows: list[Row]
    answer: "Future[str | None] | None" = None  # somebody waits to hear what came of it: a test


class ChannelWorker:
    def __init__(self, name: str, send: Send) -> None:
        self.name = name
        self._send = send
        self._line: queue.Queue[_Parcel] = queue.Queue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"notify-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """It is not waited for."""
        self._over.set()

    def put(self, rows: list[Row]) -> None:
        while self._line.qsize() >= LINE_MOST:
            self._line.get_nowait()
        self._line.put(_Parcel(rows))

    def try_out(self, row: Row) -> "Future[str | None]":
        """One attempt, and what came of it."""
        answer: Future[str | None] = Future()
        self._line.put(_Parcel([row], answer))
        return answer

    def _run(self) -> None:
        while not self._over.is_set():
            parcel = self._line.get()
            if parcel.answer is None:
                rows, parcel = self._gathered(parcel)
                self._carry(rows)
            if parcel.answer is not None:
                parcel.answer.set_result(self._attempt(parcel.rows))

    def _gathered(self, parcel: _Parcel) -> tuple[list[Row], _Parcel]:
        """All rows that come within a moment, and the last parcel, which may be a test."""
        rows = parcel.rows
        until = time.monotonic() + NOTICE_GATHER
        while parcel.answer is None and (left := until - time.monotonic()) > 0:
            try:
                parcel = self._line.get(timeout=left)
            except queue.Empty:
                break
            if parcel.answer is None:
                rows = rows + parcel.rows
        return rows, parcel

    def _carry(self, rows: list[Row]) -> None:
        why = self._attempt(rows)
        if why is not None:
            log.warning("%d notices were not delivered by %s: %s", len(rows), self.name, why)

    def _attempt(self, rows: list[Row]) -> str | None:
        try:
            return self._send(rows)
        except Exception as error:
            log.exception("the channel %s failed", self.name)
            return type(error).__name__


def couriers_of(config: Config) -> list[ChannelWorker]:
    """One for each channel that is set; none: nobody is told of anything."""
    made = []
    if config.notify_desktop:
        made.append(ChannelWorker("desktop", _on_desktop))
    if config.notify_command:
        made.append(ChannelWorker("command", _by_command(list(config.notify_command))))
    return made


# --- the desktop -----------------------------------------------------------------------------------


def _on_desktop(rows: Sequence[Row]) -> str | None:
    shown, rest = rows[:SHOWN_MOST], rows[SHOWN_MOST:]
    faults = [show(str(row["title"]), str(row["text"])) for row in shown]
    if rest:
        faults.append(show(f"and {len(rest)} more", "; ".join(str(row["title"]) for row in rest[:5])))
    return next((fault for fault in faults if fault is not None), None)


def show(title: str, text: str) -> str | None:
    """None: it was shown. Else why not."""
    found = shutil.which("notify-send") or shutil.which("osascript")
    if found is None:
        return "there is neither notify-send nor osascript; install libnotify-bin"
    try:
        done = subprocess.run(
            command(found, title, text),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=NOTICE_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{found}: {type(error).__name__}"
    return None if done.returncode == 0 else (done.stderr.strip()[:200] or f"exit {done.returncode}")


def command(found: str, title: str, text: str) -> list[str]:
    if found.endswith("osascript"):
        return [found, *(word for line in SCRIPT for word in ("-e", line)), title, text]
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return [found, "--app-name=headcount", "--", title, escaped]


# --- a command -------------------------------------------------------------------------------------


def _by_command(command: list[str]) -> Send:
    def send(rows: Sequence[Row]) -> str | None:
        try:
            done = subprocess.run(
                command,
                input=json.dumps({"notices": list(rows)}).encode(),  # ASCII: safe on the receiver's terminal
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=NOTICE_WITHIN,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "it took too long and was ended"
        except OSError as error:
            return error.strerror or str(error)
        return None if done.returncode == 0 else f"it exited with {done.returncode}"

    return send
