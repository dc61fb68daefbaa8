"""What a campaign came to: counts, and whether a promise was broken.

Rules of this file
  1. A row is ours, a control, or a figure. Ours must be as wanted; a control must fail, or the campaign
     has proved nothing.
  2. A figure is only told.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    found: str
    wanted: str = ""
    kept: bool | None = None  # None: a figure


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> bool:
        return all(row.kept is not False for row in self.rows)

    def lines(self) -> list[str]:
        words = {None: "", True: "yes", False: "**NO**"}
        return [
            "| | found | wanted | as wanted |",
            "| --- | --- | --- | --- |",
            *(f"| {row.what} | {row.found} | {row.wanted} | {words[row.kept]} |" for row in self.rows),
        ]


def on_one_line(text: str) -> None:
    """The progress line of a terminal; a plain line elsewhere, at the campaign's own pace."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def silent(text: str) -> None:
    pass
