"""`headcount service`: let systemd start the daemon with your login and keep it up.

Rules of this file
  1. For people. Without a user systemd it says so and changes nothing (exit 4): the daemon starts on first use anyway.
  2. A unit of that name that we did not write is left alone.
  3. Sessions are not lost: the daemon that ran before is stopped in order, and the new one proves all of them again.

Not here: the unit's text (unit_text.py), systemctl and starting through the unit (client/unit.py).
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.cli import printing
from headcount.cli.sanitize import clean
from headcount.client import unit
from headcount.client.faults import ClientFault, Unavailable
from headcount.paths import Places
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

NOTE = (
    "To keep it running while you are logged out: loginctl enable-linger\n"
    "Exit codes: 0 done, 1 a unit that is not ours, 3 inside an agent, 4 no user systemd here."
)
ASKED = ("ActiveState", "UnitFileState", "MainPID", "NRestarts")


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("action", choices=["install", "uninstall", "status"])
    parser.add_argument("--print", action="store_true", help="print the unit, change nothing")


def run(args: Any) -> int:
    places = Places.from_environ(os.environ)
    if args.print:
        print(_text(places), end="")
        return codes.DONE
    if args.action == "status":
        return _status(places, as_json=args.json)
    from headcount.cli.people import refuse_agents

    refuse_agents(f"service {args.action}")
    _need_systemd()
    done = _install(places) if args.action == "install" else _uninstall(places)
    if args.json:
        printing.print_document(done)
    else:
        printing.print_lines([clean(line) for line in done["says"]])
    return codes.DONE


def _text(places: Places) -> str:
    from headcount.cli.unit_text import NAMED, Unwritable, unit_text

    named = {name: value for name in NAMED if (value := os.environ.get(name))}
    if places.home is not None:
        named["HEADCOUNT_HOME"] = places.home
    try:
        return unit_text([sys.executable, "-P", "-m", "headcount", "up", "--foreground"], named, places)
    except Unwritable as error:
        raise ClientFault(f"No unit can be written: {error}.") from error


def _need_systemd() -> None:
    said = unit.systemctl("show-environment")
    if not said.ok:
        raise Unavailable(
            f"There is no user systemd to ask here ({said.text or 'it does not answer'}). Nothing written.",
            "The daemon starts on first use without it. To see the unit: headcount service install --print",
        )


def _install(places: Places) -> dict[str, Any]:
    from headcount.agents import settings_file

    path, text = Path(unit.unit_path(os.environ)), _text(places)
    before = settings_file.read(path)
    if isinstance(before, settings_file.Refusal):
        raise ClientFault(str(before))
    if before is not None and not before.decode("utf-8", "replace").startswith(unit.MARK):
        raise ClientFault(
            f"{path} is not ours. Nothing written.", "Move it away, then: headcount service install"
        )
    refusal = settings_file.replace(path, before, text.encode()) if before != text.encode() else None
    if refusal is not None:
        raise ClientFault(str(refusal))
    _asked("daemon-reload")
    _asked("enable", unit.NAME)
    moved = _main_pid() != _daemon_pid() and printing.client(autostart=False).stop()
    _asked("restart", unit.NAME)
    pid = _daemon_pid()
    says = [f"{path}   {'written' if before is None else 'up to date'}; it starts with your login"]
    says.append(f"The daemon is up (pid {pid}){', and took over from the one before' if moved else ''}.")
    says.append("To keep it running while you are logged out: loginctl enable-linger")
    return {"unit": str(path), "pid": pid, "took_over": moved, "says": says}


def _uninstall(places: Places) -> dict[str, Any]:
    path = Path(unit.unit_path(os.environ))
    if not path.exists():
        return {"unit": str(path), "removed": False, "says": ["There is no unit; nothing done."]}
    if not unit.is_installed(os.environ, places):
        raise ClientFault(f"{path} is not ours, or of another home. Nothing done.")
    _asked("disable", "--now", unit.NAME)
    path.unlink(missing_ok=True)
    _asked("daemon-reload")
    says = [f"{path}   removed", "The daemon is down; it starts on first use again."]
    return {"unit": str(path), "removed": True, "says": says}


def _status(places: Places, *, as_json: bool) -> int:
    found = standing(places)
    if as_json:
        printing.print_document(found)
        return codes.DONE
    if not found["installed"]:
        printing.print_lines(
            ["not installed; the daemon starts on first use", "Next: headcount service install"]
        )
    else:
        pid = f", pid {found['pid']}" if found["pid"] else ""
        word = f"{clean(found['active'])}{pid}" if found["systemd"] else "systemd does not answer"
        printing.print_lines([f"{clean(found['unit'])}   {clean(found['enabled'])}, {word}"])
    return codes.DONE


def standing(places: Places) -> dict[str, Any]:
    installed = unit.is_installed(os.environ, places)
    shown = _shown() if installed else None
    facts = shown or {}
    return {
        "unit": unit.unit_path(os.environ),
        "installed": installed,
        "systemd": shown is not None,
        "enabled": facts.get("UnitFileState") or "unknown",
        "active": facts.get("ActiveState") or "unknown",
        "pid": _number(facts.get("MainPID")),
        "restarts": _number(facts.get("NRestarts")),
    }


def _shown() -> dict[str, str] | None:
    said = unit.systemctl("show", "--property", ",".join(ASKED), unit.NAME)
    if not said.ok:
        return None
    return dict(line.split("=", 1) for line in said.text.splitlines() if "=" in line)


def _asked(*words: str) -> None:
    said = unit.systemctl(*words)
    if not said.ok:
        raise ClientFault(
            f"systemctl --user {' '.join(words)} failed: {said.text or 'no word why'}.",
            f"See: systemctl --user status {unit.NAME}, and: headcount doctor",
        )


def _main_pid() -> int | None:
    return _number((_shown() or {}).get("MainPID"))


def _daemon_pid() -> int | None:
    try:
        health = printing.client(autostart=False).get("/healthz")
    except ClientFault:
        return None
    return health.get("pid") if isinstance(health, dict) else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and int(text) > 0 else None
