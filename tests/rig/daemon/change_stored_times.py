"""Changing what a stopped daemon remembers, to make time go by or a coincidence happen.

Rules of this file
  1. Only a store that no daemon has open is changed.
  2. Only numbers are changed that time or chance could have made.
"""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMES = ("started_at", "last_event_at", "liveness_at", "hosted_at")


def change(home: Path, id: str, alter: Callable[[dict[str, Any]], None]) -> None:
    with contextlib.closing(sqlite3.connect(home / "headcount.db")) as store, store:
        ((body,),) = store.execute("SELECT body FROM sessions WHERE id = ?", (id,)).fetchall()
        row = json.loads(body)
        alter(row)
        changed = store.execute(
            "UPDATE sessions SET body = ?, started_at = ?, sum = NULL WHERE id = ?",
            (json.dumps(row).encode(), row["started_at"], id),
        )
        assert changed.rowcount == 1


def make_older(home: Path, id: str, by: float) -> None:
    """Everything that the session remembers happened that much earlier."""

    def alter(row: dict[str, Any]) -> None:
        for name in TIMES:
            if row.get(name):
                row[name] -= by
        for part in ("turned", "status", "activity"):
            for name in ("at", "since"):
                if (row.get(part) or {}).get(name):
                    row[part][name] -= by

    change(home, id, alter)
