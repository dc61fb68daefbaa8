"""Couriers: each channel has a thread that carries notices, so that nobody waits for a slow one.

The desktop: a notification by the program that the system has for it.

Rules
  1. A courier is a thread of its own that ends with the process: a webhook that hangs holds up neither the
     loop nor an orderly stop.
  2. Notices that come together are carried together. What cannot be delivered is tried again ever slower
     where that helps (a webhook), and given up after TRIES; then the log says so, without the address.
  3. The line is bounded: of more than LINE_MOST the oldest are dropped.
  4. Texts are arguments, never part of a script or of an option: `--` ends options, AppleScript gets them as
     argv.
  5. Notification servers read a few tags in the body, so `&<>` are written as entities.
  6. Blocks, with a deadline: for a thread.

Not here: which notices (notifications.py), how each channel speaks (daemon/observers/notification_channels.py, system/webhook.py);
  what is said (core/notifications.py), when (daemon/observers/notifications.py).
"""

import json
import logging
import queue
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from msgspec import Struct

from headcount.daemon.config import Config
from headcount.system import webhook
from headcount.times import NOTICE_GATHER, NOTICE_RETRY_FIRST, NOTICE_RETRY_MOST, NOTICE_WITHIN

SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


def program() -> str | None:
    return shutil.which("notify-send") or shutil.which("osascript")


def command(found: str, title: str, text: str) -> list[str]:
    if found.endswith("osascript"):
        return [found, *(word for line in SCRIPT for word in ("-e", line)), title, text]
    return [found, "--app-name=headcount", "--", title, _escaped(text)]


def show(title: str, text: str) -> str | None:
    """None: it was shown. Else why not."""
    found = program()
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


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


log = logging.getLogger("headcount.notify")

LINE_MOST = 1_000
TRIES = 6
SHOWN_MOST = 3  # of those that come together, a desktop shows as many; the others in one

Row = dict[str, object]  # a notice, as it is sent
Send = Callable[[Sequence[Row], str], str | None]
"""Carries notices, with the id of the delivery. None: delivered. Else why not."""


class _Parcel(Struct):
    rows: list[Row]
    answer: "Future[str | None] | None" = None  # somebody waits to hear what came of it: a test


class Courier:
    def __init__(self, name: str, send: Send, *, tries: int = 1) -> None:
        self.name = name
        self._send = send
        self._tries = tries
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
        parcel = _Parcel([row], Future())
        assert parcel.answer is not None
        self._line.put(parcel)
        return parcel.answer

    def _run(self) -> None:
        while not self._over.is_set():
            parcel = self._line.get()
            if parcel.answer is not None:
                parcel.answer.set_result(self._attempt(parcel.rows, uuid.uuid4().hex))
                continue
            rows, tested = self._gathered(parcel.rows)
            self._carry(rows)
            if tested is not None and tested.answer is not None:
                tested.answer.set_result(self._attempt(tested.rows, uuid.uuid4().hex))

    def _gathered(self, rows: list[Row]) -> tuple[list[Row], _Parcel | None]:
        until = time.monotonic() + NOTICE_GATHER
        while (left := until - time.monotonic()) > 0:
            try:
                more = self._line.get(timeout=left)
            except queue.Empty:
                break
            if more.answer is not None:
                return rows, more
            rows = rows + more.rows
        return rows, None

    def _carry(self, rows: list[Row]) -> None:
        delivery, wait = uuid.uuid4().hex, NOTICE_RETRY_FIRST
        for attempt in range(1, self._tries + 1):
            why = self._attempt(rows, delivery)
            if why is None:
                return
            if attempt == self._tries or self._over.wait(wait):
                log.warning("%d notices were not delivered by %s: %s", len(rows), self.name, why)
                return
            wait = min(wait * 2, NOTICE_RETRY_MOST)

    def _attempt(self, rows: list[Row], delivery: str) -> str | None:
        try:
            return self._send(rows, delivery)
        except Exception as error:
            log.exception("the channel %s failed", self.name)
            return type(error).__name__


def couriers_of(config: Config, now: Callable[[], float]) -> list[Courier]:
    """One for each channel that is set; none: nobody is told of anything."""
    made = []
    if config.notify_desktop:
        made.append(Courier("desktop", _on_desktop))
    if config.notify_webhook_url:
        made.append(Courier("webhook", _by_webhook(config, now), tries=TRIES))
    if config.notify_command:
        made.append(Courier("command", _by_command(list(config.notify_command))))
    return made


def _on_desktop(rows: Sequence[Row], delivery: str) -> str | None:
    shown, rest = rows[:SHOWN_MOST], rows[SHOWN_MOST:]
    faults = [show(str(row["title"]), str(row["text"])) for row in shown]
    if rest:
        faults.append(show(f"and {len(rest)} more", "; ".join(str(row["title"]) for row in rest[:5])))
    return next((fault for fault in faults if fault is not None), None)


def _by_webhook(config: Config, now: Callable[[], float]) -> Send:
    def send(rows: Sequence[Row], delivery: str) -> str | None:
        return webhook.post(
            config.notify_webhook_url,
            config.notify_webhook_secret,
            body_of(rows),
            sent_at=int(now()),
            delivery=delivery,
        )

    return send


def _by_command(command: list[str]) -> Send:
    def send(rows: Sequence[Row], delivery: str) -> str | None:
        try:
            done = subprocess.run(
                command,
                input=body_of(rows),
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


def body_of(rows: Sequence[Row]) -> bytes:
    """ASCII: no foreign character reaches a receiver's terminal as itself."""
    return json.dumps({"notices": list(rows)}).encode()
