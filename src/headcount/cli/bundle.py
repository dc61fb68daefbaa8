"""The bundle: a redacted report of one session's row, for whoever is to find out why it is wrong.

Rules of this file
  1. Everything in it went through cli/doctor/bundle.py but what is made here of our own words.
  2. It holds: versions and kernel, the daemon's health, what doctor finds, the explanation, the session's own events.
  3. The file is private (0600) and never overwrites another.

Not here: what may leave (cli/doctor/bundle.py), printing (commands/explain.py).
"""

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from headcount import __version__
from headcount.cli.doctor.bundle import redacted
from headcount.client.daemon_access import Client, quoted
from headcount.client.faults import ClientFault
from headcount.present import time_text

EVENTS_MOST = 200


def collect(client: Client, explanation: dict[str, Any], *, paths: bool) -> dict[str, Any]:
    session = str((explanation.get("session") or {}).get("id"))
    status = _asked(client, "/v1/status")
    history = _asked(client, f"/v1/history?session={quoted(session)}&limit={EVENTS_MOST}&newest=1")
    return {
        "report": "headcount explain --bundle",
        "made_at": time_text.stamp(time.time()),
        "redacted": "titles, names, commands, prompts and notes are shapes; paths are "
        + ("whole" if paths else "their last part"),
        "about": {
            "headcount": __version__,
            "python": platform.python_version(),
            "system": sys.platform,
            "kernel": platform.release(),
            "machine": platform.machine(),
        },
        "doctor": redacted(_checks(status), paths=paths),
        "status": redacted(status, paths=paths),
        "explanation": redacted(explanation, paths=paths),
        "events": redacted([_event(each) for each in history.get("events") or ()], paths=paths),
    }


def write(report: str, place: str | None, session: str) -> str:
    """The path of the new file."""
    path = Path(place or f"headcount-report-{session[:4]}-{time.strftime('%Y%m%d-%H%M%S')}.json")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ClientFault(
            f"{path} cannot be written: {error.strerror}.", "Name another file: --bundle FILE"
        ) from error
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(report)
    return str(path)


def _asked(client: Client, path: str) -> dict[str, Any]:
    """A part that cannot be had leaves its place empty: a report of trouble must come out also in trouble."""
    try:
        found = client.get(path)
    except ClientFault:
        return {}
    return found if isinstance(found, dict) else {}


def _checks(status: dict[str, Any]) -> list[dict[str, Any]]:
    """Which checks have which level; their sentences name paths and errors, and stay here."""
    from headcount.cli.doctor.environment_checks import surroundings
    from headcount.cli.doctor.facts import examine
    from headcount.cli.doctor.findings import findings_of

    found = [*findings_of(examine(os.environ)), *surroundings(os.environ, status)]
    return [{"check": each.check, "level": each.level} for each in found]


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """The row of each event repeats the explanation's: what changed is enough."""
    row = event.get("session") or {}
    kept = ("liveness", "activity", "waiting_on", "source", "pid", "since", "ended")
    return {
        **{name: event.get(name) for name in ("seq", "at", "type", "because", "fence")},
        "session": {name: row.get(name) for name in kept},
    }
