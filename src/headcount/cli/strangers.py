"""`doctor --drift`: what the agents' own files hold that no adapter knows.

Rules of this file
  1. Names, counts and one place each; content never. Nothing is sent anywhere.
  2. An agent whose files cannot be read is said to be so; the others' results stand.
  3. Strange is harmless, so it is no fault: exit 0. It tells that a newer headcount may know more.

Not here: looking (each agent's own drift.py).
"""

import os
import sys
from pathlib import Path
from typing import Any

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Agent, Scanned
from headcount.cli import output
from headcount.present.clean_text import clean
from headcount.wire import exit_codes


def report(*, as_json: bool) -> int:
    scans = {name: _scan(agent) for name, agent in AGENTS.items()}
    if as_json:
        output.print_document({"agents": [_plain(name, scan) for name, scan in scans.items()]})
    else:
        for name, scan in scans.items():
            output.print_lines(lines_of(name, scan))
    return exit_codes.DONE


def lines_of(name: str, scan: Scanned | str) -> list[str]:
    if isinstance(scan, str):
        return [f"{name}: could not be looked at: {clean(scan)}"]
    files = f"{scan.files} file{'s' if scan.files != 1 else ''}"
    if not scan.files:
        return [f"{name}: no files here."]
    if not scan.strange:
        return [f"{name}: {files}, nothing strange."]
    lines = [f"{name}: {files}, {len(scan.strange)} strange (harmless; a newer headcount may know them):"]
    for each in scan.strange:
        lines.append(f"  {each.file} {each.kind} {clean(each.name)} ({each.count})  {clean(each.example)}")
    return lines


def _scan(agent: Agent) -> Scanned | str:
    try:
        return agent.drift(os.environ, Path.home(), _progress(agent.name))
    except Exception as error:  # one adapter's bug must not hide the others' results
        return f"{type(error).__name__}: {error}"
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)


def _progress(name: str) -> Any:
    def on_file(read: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{name}: {read} of {of} files", end="", file=sys.stderr, flush=True)

    return on_file


def _plain(name: str, scan: Scanned | str) -> dict[str, Any]:
    if isinstance(scan, str):
        return {"agent": name, "files": None, "strange": [], "fault": scan}
    strange = [
        {field: getattr(each, field) for field in ("file", "kind", "name", "count", "example")}
        for each in scan.strange
    ]
    return {"agent": name, "files": scan.files, "strange": strange, "fault": None}
