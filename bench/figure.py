"""A figure: a table with its targets, what was compared with what, and the ratios that matter of it.

Rules of this file
  1. A figure is a value; measuring makes one, the page shows it.
  2. A row that has a target says whether it was met. What fell short is said, not left out.
  3. A ratio says how many times better ours is than the alternative; below one it is worse, and is shown all the same.

Not here: measuring (one file a figure), the document (page.py).
"""

from dataclasses import dataclass, field

from bench.numbers import times


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    cells: tuple[str, ...]
    target: str = ""
    met: bool | None = None  # None: it has no target


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of the table at the top of the page."""

    what: str
    ours: str
    other: str  # what it is compared with, and its figure
    better: float  # how many times
    target: str = ""
    met: bool | None = None

    def cells(self) -> list[str]:
        return [self.what, self.ours, self.other, times(self.better, 1.0), self.target, _word(self.met)]


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())
    ratios: tuple[Ratio, ...] = field(default=())
    pictures: tuple[tuple[str, str], ...] = field(default=())  # a name below docs/img, and the SVG

    def lines(self) -> list[str]:
        has_targets = any(row.target for row in self.rows)
        head = ["", *self.columns, *(["target", "met"] if has_targets else [])]
        body = [
            [row.what, *row.cells, *([row.target, _word(row.met)] if has_targets else [])]
            for row in self.rows
        ]
        return table(head, body)


def table(head: list[str], body: list[list[str]]) -> list[str]:
    return [_line(head), _line(["---"] * len(head)), *(_line(row) for row in body)]


def _word(met: bool | None) -> str:
    return "" if met is None else ("yes" if met else "**no**")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
