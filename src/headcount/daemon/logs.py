"""The log: one JSON object a line, rotated, without secrets.

Rules of this file
  1. Lines are machine-readable: at, level, from, message, and the trace of a fault.
  2. It is a plain file of ours; a link or a pipe in its place is taken away.
  3. No prompt, payload, header or token is ever logged; callers log kinds, counts and pids. A trace names the places and
     the kinds of its faults, not their messages: those may quote what was being read.
"""

import json
import logging
import logging.handlers
import traceback
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from headcount.private_files import open_to_append

SIZE_MOST = 2 * 1024 * 1024
KEPT = 3
CAUSES_MOST = 8


class OwnFile(logging.handlers.RotatingFileHandler):
    """Writes through nothing that was put in the place of the log."""

    def _open(self) -> TextIOWrapper:
        return open(open_to_append(self.baseFilename), "a", encoding=self.encoding)


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "at": at,
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = _trace(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True)


def _trace(fault: BaseException | None) -> str:
    told: list[str] = []
    while fault is not None and len(told) < CAUSES_MOST:
        why = f": {fault.strerror}" if isinstance(fault, OSError) and fault.strerror else ""
        told.append(f"{''.join(traceback.format_tb(fault.__traceback__))}{type(fault).__name__}{why}")
        fault = fault.__cause__ or fault.__context__
    return "\n".join(reversed(told))


def open_log(path: Path) -> None:
    handler = OwnFile(path, maxBytes=SIZE_MOST, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
