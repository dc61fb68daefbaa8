"""A figure: a table with its targets and what was compared with what.

Rules of this file
  1. A figure is a value; measuring makes one, the page shows it.
  2. A row that has a target says whether it was met. What fell short is said, not left out.

Not here: measuring (one file a figure), the document (page.py).
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    cells: tuple[str, ...]
    target: str = ""
    met: bool | None = None  # None: it has no target


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def lines(self) -> list[str]:
        has_targets = any(row.target for row in self.rows)
        head = ["", *self.columns, *(["target", "met"] if has_targets else [])]
        body = [
            [row.what, *row.cells, *([row.target, _word(row.met)] if has_targets else [])]
            for row in self.rows
        ]
        return [_line(head), _line(["---"] * len(head)), *(_line(row) for row in body)]


def _word(met: bool | None) -> str:
    return "" if met is None else ("yes" if met else "**no**")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
