"""The desktop: a notification by the program that the system has for it.

Rules of this file
  1. Texts are arguments, never part of a script or of an option: `--` ends options, AppleScript gets them as argv.
  2. Notification servers read a few tags in the body, so `&<>` are written as entities.
  3. Blocks, with a deadline: for a thread.

Not here: what is said (core/notifications.py), when (daemon/observers/notifications.py).
"""

import shutil
import subprocess

from headcount.times import NOTICE_WITHIN

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
