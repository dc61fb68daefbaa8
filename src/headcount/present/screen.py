"""The screen: what the place we print to can show.

Rules
  1. A pipe gets no colour and no cut. `NO_COLOR` and TERM=dumb are obeyed.
  2. Without UTF-8 the marks are ASCII. The locale's word counts, not only Python's encoding, which calls
     itself UTF-8 under LC_ALL=C.

Not here: what is drawn (table.py, event_lines.py), cleaning of foreign text (clean_text.py).
"""

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple, TextIO

CODES = {
    "needs you": "1;33",
    "stopped": "31",
    "done": "36",
    "working": "32",
    "unknown": "35",
    "idle": "2",
    "alarm": "31",
    "ended": "2",
    "killed": "31",
    "good": "32",
    "bold": "1",
}
COLUMNS_LEAST = 20


class Screen(NamedTuple):
    columns: int | None  # None: a pipe, nothing is cut
    colour: bool
    unicode: bool

    @property
    def dots(self) -> str:
        return "…" if self.unicode else ".."

    def paint(self, text: str, kind: str) -> str:
        code = CODES.get(kind)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


def screen_of(stream: TextIO, env: Mapping[str, str]) -> Screen:
    terminal = stream.isatty()
    return Screen(
        columns=_columns(stream, env) if terminal else None,
        colour=terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb",
        unicode=_speaks_utf8(stream.encoding, env),
    )


def standard() -> Screen:
    return screen_of(sys.stdout, os.environ)


def _columns(stream: TextIO, env: Mapping[str, str]) -> int:
    wanted = env.get("COLUMNS", "")
    if wanted.isascii() and wanted.isdecimal() and int(wanted) >= COLUMNS_LEAST:
        return int(wanted)
    try:
        return max(COLUMNS_LEAST, os.get_terminal_size(stream.fileno()).columns or 80)
    except OSError:
        return 80


def _speaks_utf8(encoding: str | None, env: Mapping[str, str]) -> bool:
    if (encoding or "").lower().replace("-", "") != "utf8":
        return False
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    return "utf8" in locale.lower().replace("-", "")
