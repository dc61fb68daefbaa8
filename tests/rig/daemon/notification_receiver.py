"""A notification command that keeps what it gets, and can be told to refuse or to hang.

Rules of this file
  1. It is a real program that the daemon runs: what arrives is read from the file that it appends to.
"""

import json
from pathlib import Path
from typing import Any

SCRIPT = """\
while [ -e "$0.hang" ]; do sleep 0.05; done
body=$(cat)
rm "$0.refuse" 2>/dev/null && exit 7
printf '%s\\n' "$body" >>"$0"
"""
SECRET = "SECRET-IN-ARGUMENT"  # as the key in the address that curl would get


class Receiver:
    def __init__(self, directory: Path) -> None:
        self._taken = directory / "taken"

    @property
    def command(self) -> list[str]:
        return ["/bin/sh", "-c", SCRIPT, str(self._taken), SECRET]

    def refuse_next(self) -> None:
        self._taken.with_name("taken.refuse").touch()

    def hang(self, on: bool) -> None:
        flag = self._taken.with_name("taken.hang")
        if on:
            flag.touch()
        else:
            flag.unlink(missing_ok=True)

    def notices(self, session: str | None = None) -> list[dict[str, Any]]:
        """All that arrived, of one session: others of the machine may be told of, too."""
        lines = self._taken.read_text().splitlines() if self._taken.exists() else []
        rows = [row for line in lines for row in json.loads(line)["notices"]]
        return [row for row in rows if session is None or (row["session"] or {}).get("id") == session]
