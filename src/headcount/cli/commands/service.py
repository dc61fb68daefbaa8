"""`headcount service`: let systemd start the daemon with your login and keep it up.

Rules
  1. For people. Without a user systemd it says so and changes nothing (exit 4): the daemon starts on first use anyway.
     What is not installed is taken away everywhere.
  2. A unit of that name that we did not write is left alone.
  3. Sessions are not lost: the daemon that ran before is stopped in order, and the new one proves all of them again.

Not here: the unit's text (actions/systemd_service.py), systemctl and starting through the unit (client/daemon_process.py).
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.actions.systemd_service import _daemon_pid, _main_pid, standing
from headcount.client import daemon_process
from headcount.client.faults import ClientFault, Unavailable, WrongCall
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments

NOTE = (
    "To keep it running while you are logged out: loginctl enable-linger\n"
    "Exit codes: 0 done, 1 a unit that is not ours, 3 inside an agent, 4 no user systemd here."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("action", choices=["install", "uninstall", "status"])
    parser.add_argument("--print", action="store_true", help="print the unit, change nothing")


def run(args: "VerbArguments") -> int:
    places = Places.from_environ(os.environ)
    if args.print:
        if args.action != "install":
            raise WrongCall(f"headcount: service {args.action} prints no unit; service install --print does.")
        print(_text(places), end="")
        return exit_codes.DONE
    if args.action == "status":
        return _status(places, as_json=args.json)
    from headcount.cli.humans_only import refuse_agents

    refuse_agents(f"service {args.action}")
    if args.action == "install" or Path(daemon_process.unit_path(os.environ)).exists():
        _need_systemd()
    done = _install(places) if args.action == "install" else _uninstall(places)
    if args.json:
        output.print_document(done)
    else:
        output.print_lines([clean(line) for line in done["says"]])
    return exit_codes.DONE


def _text(places: Places) -> str:
    from headcount.cli.actions.systemd_service import NAMED, Unwritable, unit_text

    named = {name: value for name in NAMED if (value := os.environ.get(name))}
    if places.home is not None:
        named["HEADCOUNT_HOME"] = places.home
    try:
        return unit_text([sys.executable, "-P", "-m", "headcount", "up", "--foreground"], named, places)
    except Unwritable as error:
        raise ClientFault(f"No unit can be written: {error}.") from error


def _need_systemd() -> None:
    said = daemon_process.systemctl("show-environment")
    if not said.ok:
        raise Unavailable(
            f"There is no user systemd to ask here ({said.text or 'it does not answer'}). Nothing written.",
            "The daemon starts on first use without it. To see the unit: headcount service install --print",
        )


def _install(places: Places) -> dict[str, Any]:
    from headcount.agents.installing import settings_file

    path, text = Path(daemon_process.unit_path(os.environ)), _text(places)
    before = settings_file.read(path)
    if isinstance(before, settings_file.Refusal):
        raise ClientFault(str(before))
    if before is not None and not before.decode("utf-8", "replace").startswith(daemon_process.MARK):
        raise ClientFault(
            f"{path} is not ours. Nothing written.", "Move it away, then: headcount service install"
        )
    refusal = settings_file.replace(path, before, text.encode()) if before != text.encode() else None
    if refusal is not None:
        raise ClientFault(str(refusal))
    _asked("daemon-reload")
    _asked("enable", daemon_process.NAME)
    moved = _main_pid() != _daemon_pid() and output.client(autostart=False).stop()
    _asked("restart", daemon_process.NAME)
    pid = _daemon_pid()
    says = [f"{path}   {'written' if before is None else 'up to date'}; it starts with your login"]
    says.append(f"The daemon is up (pid {pid}){', and took over from the one before' if moved else ''}.")
    says.append("To keep it running while you are logged out: loginctl enable-linger")
    return {"unit": str(path), "pid": pid, "took_over": moved, "says": says}


def _uninstall(places: Places) -> dict[str, Any]:
    path = Path(daemon_process.unit_path(os.environ))
    if not path.exists():
        return {"unit": str(path), "removed": False, "says": ["It is not installed; nothing done."]}
    if not daemon_process.is_installed(os.environ, places):
        raise ClientFault(f"{path} is not ours, or of another home. Nothing done.")
    _asked("disable", "--now", daemon_process.NAME)
    path.unlink(missing_ok=True)
    _asked("daemon-reload")
    says = [f"{path}   removed", "The daemon is down; it starts on first use again."]
    return {"unit": str(path), "removed": True, "says": says}


def _status(places: Places, *, as_json: bool) -> int:
    found = standing(places)
    if as_json:
        output.print_document(found)
        return exit_codes.DONE
    if not found["installed"]:
        next_step = "Next: headcount service install"
        if not daemon_process.systemctl("show-environment").ok:
            next_step = "There is no user systemd to ask here, so it cannot be installed."
        output.print_lines(["not installed; the daemon starts on first use", next_step])
    else:
        pid = f", pid {found['pid']}" if found["pid"] else ""
        word = f"{clean(found['active'])}{pid}" if found["systemd"] else "systemd does not answer"
        output.print_lines([f"{clean(found['unit'])}   {clean(found['enabled'])}, {word}"])
    return exit_codes.DONE


def _asked(*words: str) -> None:
    said = daemon_process.systemctl(*words)
    if not said.ok:
        raise ClientFault(
            f"systemctl --user {' '.join(words)} failed: {said.text or 'no word why'}.",
            f"See: systemctl --user status {daemon_process.NAME}, and: headcount doctor",
        )
