"""The log: one JSON object a line, rotated, without secrets.

Rules of this file
  1. Lines are machine-readable: at, level, from, message, and the trace of a fault.
  2. It is a plain file of ours; a link or a pipe in its place is taken away.
  3. No prompt, payload, header or token is ever logged; callers log kinds, counts and pids.
"""

import json
import logging
import logging.handlers
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from headcount.own_files import open_to_append

SIZE_MOST = 2 * 1024 * 1024
KEPT = 3


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
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def open_log(path: Path) -> None:
    handler = OwnFile(path, maxBytes=SIZE_MOST, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
