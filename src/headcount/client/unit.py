"""The systemd user unit: where it is, whether it is of this home, and starting the daemon through it.

Rules of this file
  1. A unit belongs to one state directory; its first line says which. Another home's daemon is not started by it.
  2. Where our unit is installed it starts the daemon, so that it stays supervised over an upgrade or a `down`. A systemd
     that cannot be asked (a sandbox, a container) is no fault: the daemon is started as everywhere.
  3. Nothing is run unless the file is there: one failed `open` is all that others pay.

Not here: the unit's text (cli/actions/systemd_service.py), installing it (cli/commands/service.py).
"""

import os
import subprocess
from collections.abc import Mapping

from headcount.paths import Places
from headcount.times import OTHER_PROGRAM_WITHIN

NAME = "headcount.service"
MARK = "# Written by `headcount service install` for the state in "


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


class Said:
    """What systemctl answered; `ok` is its exit code, in words otherwise."""

    def __init__(self, ok: bool, text: str) -> None:
        self.ok = ok
        self.text = text


def systemctl(*words: str) -> Said:
    try:
        done = subprocess.run(
            ["systemctl", "--user", "--no-pager", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=OTHER_PROGRAM_WITHIN,
        )  # fmt: skip
    except FileNotFoundError:
        return Said(False, "there is no systemctl")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Said(False, str(error))
    return Said(
        done.returncode == 0, (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip()
    )
