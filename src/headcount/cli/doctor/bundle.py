"""`explain --bundle`: a redacted report of one session's row, for whoever is to find out why it is wrong.

Rules
  1. An allow-list: a field that is not named here leaves as its shape (`<text, 27 characters>`), never as
     itself.
  2. Reason codes, fixed words, numbers, times and ids stay: they explain a wrong row. Sentences leave as their
     length, because an agent's or a person's words (titles, commands, prompts, notes, names) may be in them.
  3. Of a path the last part stays, or all of it when that was asked for.
  4. It holds: versions and kernel, the daemon's health, the levels of doctor's checks, the explanation, the
     session's own events.
  5. The file is private (0600) and never overwrites another.

Not here: what the codes mean (daemon/views/explain.py), printing (commands/explain.py).
"""

import os
import platform
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount import __version__
from headcount.client.daemon_access import DaemonAccess, quoted
from headcount.client.faults import ClientFault
from headcount.present import time_text

if TYPE_CHECKING:
    from headcount.wire.views import EventRow, Explanation, History, Status

EVENTS_MOST = 200

PLAIN = frozenset({
    "id", "agent", "liveness", "activity", "waiting_on", "failure", "since", "started_at", "last_event_at", "source",
    "provisional", "parent", "predecessor", "kind", "exit_code", "signal", "away", "successor", "at", "seq", "type",
    "value", "says", "stands", "agree", "version", "uptime_s", "counts", "agents", "processes", "watched", "polled",
    "bytes", "sessions", "pid", "fence", "session", "oldest", "stalled",
    "context_tokens", "check", "level", "python", "system", "kernel", "machine", "terminal", "headcount",
    "unknown_events", "hidden", "waiting",
})  # fmt: skip
"""Fields whose text is ours, or one of a few words; checked by form all the same."""

PATHS = frozenset({"cwd", "socket", "mailbox", "path", "repo", "unit", "set_aside"})

FORMS = {
    "code": re.compile(r"[a-z]{1,16}(?:-[a-z]{1,16}){0,4}"),
    "entrypoint": re.compile(r"[A-Za-z_-]{1,20}"),
    "permission_mode": re.compile(r"[A-Za-z_-]{1,20}"),
    "model": re.compile(r"(?:claude|gpt|gemini|codex)[a-z0-9.-]{0,40}"),
}
"""Codes, and what agents say of themselves in a few words of their own: only in the form that those have."""

_WORD = re.compile(
    r"[A-Za-z._ -]{1,32}|[0-9a-f]{4,32}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,16}Z|[0-9][0-9A-Za-z.+-]{0,31}|pid [0-9]{1,10}"
)  # a word, an id, a time, a version, a process
_NAME = re.compile(r"[A-Za-z_.]{1,40}")  # of an event or a field, without digits: no secret looks like it


def collect(client: DaemonAccess, explanation: "Explanation", *, paths: bool) -> dict[str, object]:
    session = str((explanation.get("session") or {}).get("id"))
    status: Status = _asked(client, "/v1/status")
    history: History = _asked(client, f"/v1/history?session={quoted(session)}&limit={EVENTS_MOST}&newest=1")
    return {
        "report": "headcount explain --bundle",
        "made_at": time_text.stamp(time.time()),
        "redacted": "titles, names, commands, prompts, notes and sentences are lengths; paths are "
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


def _asked(client: DaemonAccess, path: str) -> Any:
    """A part that cannot be had leaves its place empty: a report of trouble must come out also in trouble."""
    try:
        found = client.get(path)
    except ClientFault:
        return {}
    return found if isinstance(found, dict) else {}


def _checks(status: "Status") -> list[dict[str, str]]:
    """Which checks have which level; their sentences name paths and errors, and stay here."""
    from headcount.cli.doctor.environment_checks import surroundings
    from headcount.cli.doctor.facts import examine
    from headcount.cli.doctor.findings import findings_of

    found = [*findings_of(examine(os.environ)), *surroundings(os.environ, status)]
    return [{"check": each.check, "level": each.level} for each in found]


def _event(event: "EventRow") -> dict[str, object]:
    """The row of each event repeats the explanation's: what changed is enough."""
    row = event.get("session") or {}
    kept = ("liveness", "activity", "waiting_on", "source", "pid", "since", "ended")
    return {
        **{name: event.get(name) for name in ("seq", "at", "type", "fence")},
        "code": event.get("because"),  # of a release: why
        "session": {name: row.get(name) for name in kept},
    }


def redacted(value: object, *, paths: bool = False, field: str = "") -> object:
    if isinstance(value, dict):
        return {
            _key(key): redacted(each, paths=paths, field=_field(field, key)) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(each, paths=paths, field=field) for each in value]
    if isinstance(value, str):
        return _text(value, field, paths)
    return value


def _key(key: object) -> str:
    return str(key) if _NAME.fullmatch(str(key)) else shape(str(key))


def _field(outer: str, key: object) -> str:
    """Numbers by name (`counts`) keep the outer field's rule."""
    return outer if outer in ("counts", "agents", "unknown_events") else str(key)


def _text(text: str, field: str, paths: bool) -> str:
    if field == "conversation":
        return f"{text[:8]}…" if re.fullmatch(r"[0-9a-f-]{8,64}", text) else shape(text)
    if field in PATHS:
        return path_of(text, paths=paths)
    form = FORMS.get(field, _WORD if field in PLAIN else None)
    if form is not None and form.fullmatch(text):
        return text
    return shape(text)


def path_of(text: str, *, paths: bool) -> str:
    if not text.startswith("/"):
        return shape(text)
    return text if paths else f"…/{text.rstrip('/').rpartition('/')[2]}"


def shape(text: str) -> str:
    return f"<text, {len(text)} characters>" if text else ""
