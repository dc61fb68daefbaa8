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
CONTROL = "control"  # how the words of a control's row begin


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    found: str
    wanted: str = ""
    kept: bool | None = None  # None: a figure

    @property
    def is_control(self) -> bool:
        return self.what.strip().startswith(CONTROL)


def none(what: str, count: int) -> Row:
    """Ours: it must never have happened."""
    return Row(what, f"{count:,}", "0", count == 0)


def some(what: str, count: int) -> Row:
    """A control, or something without which nothing was shown: it must have happened."""
    return Row(what, f"{count:,}", "more than 0", count > 0)


@dataclass(frozen=True, slots=True)
class Line:
    """A whole campaign in one line."""

    title: str
    much: str
    ours: tuple[int, int]  # as wanted, of so many
    controls: tuple[int, int]
    seconds: int
    command: str

    def cells(self) -> list[str]:
        shares = (_share(*self.ours), _share(*self.controls))
        return [self.title, self.much, *shares, str(self.seconds), f"`{self.command}`"]


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def kept(self) -> bool:
        return all(row.kept is not False for row in self.rows)

    def not_as_wanted(self) -> list[str]:
        return [f"{row.what}: {row.found}" for row in self.rows if row.kept is False]

    def line(self, command: str, seconds: float) -> Line:
        judged = [row for row in self.rows if row.kept is not None]
        return Line(
            self.title,
            f"{self.rows[0].found} {self.rows[0].what}",
            _count([row for row in judged if not row.is_control]),
            _count([row for row in judged if row.is_control]),
            round(seconds),
            command,
        )

    def lines(self) -> list[str]:
        words = {None: "", True: "yes", False: "**NO**"}
        return [
            "| | found | wanted | as wanted |",
            "| --- | --- | --- | --- |",
            *(f"| {row.what} | {row.found} | {row.wanted} | {words[row.kept]} |" for row in self.rows),
        ]


def _count(rows: list[Row]) -> tuple[int, int]:
    return sum(bool(row.kept) for row in rows), len(rows)


def _share(good: int, total: int) -> str:
    """Bold where it is not as it must be: without a control nothing was proved."""
    return f"{good} of {total}" if 0 < good == total else f"**{good} of {total}**"


def on_one_line(text: str) -> None:
    """The progress line of a terminal; a plain line elsewhere, at the campaign's own pace."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def silent(text: str) -> None:
    pass
