"""The systemd user unit: its text, and whether it is installed and running.

Rules
  1. What systemd would interpret in the text (`%`, `$`, quotes) is escaped.
  2. Type=notify: systemd knows when the daemon has proved its sessions. A daemon that finds another one running
     (exit 75) is not restarted again and again.
  3. Stopping the unit signals the daemon alone: agents are not its children.

Not here: installing and removing it (commands/service.py), starting the daemon through it (client/daemon_process.py).
"""

import os
from collections.abc import Sequence

from headcount import times
from headcount.cli import output
from headcount.client import daemon_process
from headcount.client.daemon_process import first_line
from headcount.client.faults import ClientFault
from headcount.daemon.main import EXIT_BUSY
from headcount.paths import Places

STARTS_MOST = 5
NAMED = ("HEADCOUNT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""What decides where files are and is not in systemd's own environment."""

ASKED = ("ActiveState", "UnitFileState", "MainPID", "NRestarts")


class Unwritable(ValueError):
    """A path that cannot stand in a unit."""


def unit_text(command: Sequence[str], environment: dict[str, str], places: Places) -> str:
    lines = [
        first_line(places),
        "[Unit]",
        "Description=Headcount: which coding agents are alive, and what each is doing",
        f"StartLimitIntervalSec={times.SERVICE_GIVEN_UP_WITHIN}",
        f"StartLimitBurst={STARTS_MOST}",
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"ExecStart={' '.join(_word(word, command=True) for word in command)}",
        *(f"Environment={_word(f'{name}={value}')}" for name, value in environment.items()),
        "Restart=on-failure",
        f"RestartSec={times.SERVICE_RESTART_AFTER}",
        f"RestartPreventExitStatus={EXIT_BUSY}",
        f"WatchdogSec={times.SERVICE_WATCHDOG}",
        f"TimeoutStopSec={times.STOP_WITHIN:.0f}",
        "KillMode=mixed",
        "UMask=0077",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def _word(text: str, *, command: bool = False) -> str:
    """Quoted as systemd.syntax(7) has it; `$` is for systemd only in a command."""
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in text):
        raise Unwritable(f"{text!r} has a control character, which cannot stand in a unit")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    if command:
        escaped = escaped.replace("$", "$$")
    plain = all(sign.isalnum() or sign in "/-_.=:+@" for sign in text)
    return escaped if plain else f'"{escaped}"'


def standing(places: Places) -> dict[str, object]:
    installed = daemon_process.is_installed(os.environ, places)
    shown = _shown() if installed else None
    facts = shown or {}
    return {
        "unit": daemon_process.unit_path(os.environ),
        "installed": installed,
        "systemd": shown is not None,
        "enabled": facts.get("UnitFileState") or "unknown",
        "active": facts.get("ActiveState") or "unknown",
        "pid": _number(facts.get("MainPID")),
        "restarts": _number(facts.get("NRestarts")),
    }


def _shown() -> dict[str, str] | None:
    said = daemon_process.systemctl("show", "--property", ",".join(ASKED), daemon_process.NAME)
    if not said.ok:
        return None
    return dict(line.split("=", 1) for line in said.text.splitlines() if "=" in line)


def _main_pid() -> int | None:
    return _number((_shown() or {}).get("MainPID"))


def _daemon_pid() -> int | None:
    try:
        health = output.client(autostart=False).get("/healthz")
    except ClientFault:
        return None
    return health.get("pid") if isinstance(health, dict) else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and int(text) > 0 else None
