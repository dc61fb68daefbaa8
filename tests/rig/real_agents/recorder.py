"""Recording what the real CLI says of itself: hooks by our own line, its registry file, and what was truly so.

Rules of this file
  1. Hooks are recorded by the very line that is installed: the file's time is the event's time.
  2. The registry is looked at every few milliseconds; each new content is one entry with the time it was seen.
  3. `truth` entries are what a person at the screen knows; a replay must come to the same.
  4. Home, project, machine and long texts are replaced before anything is kept.

Not here: running the CLI (claude.py), which traces there are (record_traces.py).
"""

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

from headcount.agents.claude_code.reports import EVENTS
from headcount.agents.installing.hook_line_mailbox import line
from headcount.agents.kit.hook_events import Use
from tests.rig.real_agents.claude import NEWEST, Claude

LONGEST = 160


def recording_settings(mailbox: Path, version: str = NEWEST) -> dict[str, Any]:
    """Settings that drop every event that may be registered, also those that we ignore, at all times. An event
    that a CLI does not know makes it open a warning at its start, before anything else."""
    handler = {"type": "command", "command": line(mailbox, only_while_listening=False), "timeout": 5}
    known = [row for row in EVENTS.values() if row.since is None or version == NEWEST]
    events = [row.name for row in known if row.use is not Use.NEVER and row.name != "FileChanged"]
    return {"hooks": {name: [{"hooks": [handler]}] for name in events}}


class Recorder:
    """`with Recorder(claude, mailbox) as recorder:` … `recorder.trace("name")`."""

    def __init__(self, claude: Claude, mailbox: Path) -> None:
        self._claude = claude
        self._mailbox = mailbox
        self._entries: list[dict[str, Any]] = []
        self._last: dict[str, str] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Recorder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def did(self, what: str) -> None:
        self._entries.append({"at": time.time(), "kind": "did", "what": what})

    def truth(self, activity: str, waiting_on: str | None = None) -> None:
        self._entries.append(
            {"at": time.time(), "kind": "truth", "activity": activity, "waiting_on": waiting_on}
        )

    def _look(self) -> None:
        while not self._over.is_set():
            seen = {path.name: path for path in self._claude.sessions.glob("*.json")}
            for name in self._last.keys() - seen.keys():
                del self._last[name]
                self._entries.append({"at": time.time(), "kind": "registry", "file": name, "record": None})
            for name, path in seen.items():
                self._note(name, path)
            time.sleep(0.004)

    def _note(self, name: str, path: Path) -> None:
        try:
            content = path.read_text()
            record = json.loads(content)
        except (OSError, ValueError):
            return
        if self._last.get(name) != content:
            self._last[name] = content
            self._entries.append({"at": time.time(), "kind": "registry", "file": name, "record": record})

    def hooks(self) -> list[dict[str, Any]]:
        found = []
        for path in self._mailbox.glob("[0-9]*.[0-9]*"):
            stat_line, _, payload = path.read_text().partition("\n")
            try:
                read = json.loads(payload)
            except ValueError:
                continue  # its hook is writing it at this moment
            at, pid = path.stat().st_mtime, int(stat_line.split()[0])
            found.append({"at": at, "kind": "hook", "pid": pid, "payload": read})
        return found

    def trace(self, name: str, version: str) -> dict[str, Any]:
        entries = sorted([*self._entries, *self.hooks()], key=lambda entry: float(entry["at"]))
        text = json.dumps([_shortened(entry) for entry in entries])
        for there, instead in self._replacements():
            text = text.replace(there, instead)
        text = re.sub(r"linux:[0-9a-f]{8,}:", "linux:machine:", text)
        return {"name": name, "cli": version, "entries": json.loads(text)}

    def _replacements(self) -> list[tuple[str, str]]:
        pairs = []
        for path, instead in ((self._claude.home, "/home/dev"), (self._claude.project, "/home/dev/project")):
            pairs += [
                (str(path), instead),
                (re.sub(r"[^A-Za-z0-9]", "-", str(path)), instead.replace("/", "-")),
            ]
        return sorted(pairs, key=lambda pair: -len(pair[0]))


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + "…"
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return value


def save(trace: dict[str, Any], directory: Path) -> Path:
    """One entry a line: small, and a diff shows what changed."""
    rows = ",\n ".join(json.dumps(entry, ensure_ascii=False) for entry in trace["entries"])
    path = directory / f"{trace['name']}.json"
    path.write_text(
        f'{{"name": {json.dumps(trace["name"])}, "cli": {json.dumps(trace["cli"])}, "entries": [\n {rows}\n]}}\n'
    )
    return path
