"""The log: one JSON object a line, rotated, without secrets.

Rules of this file
  1. Lines are machine-readable: at, level, from, message, and the trace of a fault.
  2. No prompt, payload, header or token is ever logged; callers log kinds, counts and pids.
"""

import json
import logging
import logging.handlers
from datetime import UTC, datetime
from pathlib import Path

SIZE_MOST = 2 * 1024 * 1024
KEPT = 3


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
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=SIZE_MOST, backupCount=KEPT, encoding="utf-8"
    )
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
