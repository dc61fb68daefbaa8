"""Printing for programs and asking the daemon: what every verb needs.

Rules of this file
  1. JSON is ASCII: escaped, so no foreign character reaches a terminal as itself. One document is
     indented on a terminal only; streams are one line an event.
  2. What is said beside the answer goes to stderr.

Not here: tables (present/table.py), events for people (present/event_lines.py).
"""

import json
import os
import sys
from typing import Any

from headcount.client.daemon_access import Client, reach


def client(*, autostart: bool = True) -> Client:
    return reach(os.environ, autostart=autostart, say=note)


def note(line: str) -> None:
    from headcount.cli.sanitize import clean

    print(clean(line), file=sys.stderr)


def print_document(data: Any) -> None:
    print(json.dumps(data, indent=2 if sys.stdout.isatty() else None))


def print_fault(code: str, message: str, hint: str | None = None) -> None:
    """The wire's own form of an error, for programs that asked for JSON."""
    print(json.dumps({"error": {"code": code, "message": message, "hint": hint}}))


def print_line(data: Any) -> None:
    """One line of NDJSON, out at once: the reader waits for it."""
    print(json.dumps(data), flush=True)


def print_lines(lines: list[str]) -> None:
    print("\n".join(lines))
