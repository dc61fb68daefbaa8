"""The bars above and below: tabs and the summary, the keys, and what must be said at once.

Rules of this file
  1. One line each, cut at the screen's end. What is lost or wrong is red and comes before all else.

Not here: the words of the summary (present/table.py), when something is said (app.py).
"""

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from headcount.cli.sanitize import cut, width
from headcount.present.session_words import ASCII_MARKS, GROUPS, MARKS, Row
from headcount.tui.paint import Line, strip_of

TABS = ("agents", "claims", "leftovers")
OTHERS = "j/k move  n needs you  1-3 tabs  ? help  q quit"
KEYS = {
    "agents": "j/k move  n needs you  Enter go there  / find  s stop  1-3 tabs  ? help  q quit",
    "claims": OTHERS,
    "leftovers": OTHERS,
}


class Bar(Widget):
    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._line: Line = []

    def show(self, line: Line) -> None:
        if line != self._line:
            self._line = line
            self.refresh()

    def render_line(self, y: int) -> Strip:
        return strip_of(self._line, self.size.width, self.rich_style + Style())

    @property
    def text(self) -> str:
        """For tests: what it says."""
        return "".join(text for text, _ in self._line)


def top(tab: str, counts: dict[str, int | None], summaries: Sequence[str], cells: int) -> Line:
    """`headcount [agents] claims 2 leftovers 1      8 alive: 2 need you`: of the summaries the first that fits."""
    line: Line = [("headcount ", "bold")]
    for name in TABS:
        count = counts.get(name)
        label = name if count is None else f"{name} {count}"
        line.append((f"[{label}]" if name == tab else f" {label} ", "bold" if name == tab else "head"))
    taken = sum(width(text) for text, _ in line)
    room = cells - taken - 2
    if room < 12:
        return line
    short = cut(next((text for text in summaries if width(text) <= room), summaries[-1]), room)
    return [*line, (" " * (cells - taken - width(short)), "plain"), (short, "plain")]


def in_marks(rows: Sequence[Row], *, unicode: bool) -> str:
    """The summary where there is no room for words: `8 alive ▲2 ■1 ✓1 ●2 ?1 ○1`."""
    marks = MARKS if unicode else ASCII_MARKS
    counts = {group: sum(row.group == group for row in rows) for group in GROUPS}
    alive = sum(row.liveness == "alive" for row in rows)
    return " ".join(
        [f"{alive} alive", *(f"{marks[group]}{count}" for group, count in counts.items() if count)]
    )


def bottom(
    *, lost: str | None, said: str | None, wanted: str, notes: Sequence[str], cells: int, keys: str
) -> Line:
    """The connection before what was just said, that before the filter, that before the keys."""
    if lost is not None:
        return [(cut(lost, cells), "alarm")]
    if said is not None:
        return [(cut(said, cells), "bold")]
    if wanted:
        return [(cut(wanted, cells), "done")]
    keys = cut(keys, cells)
    room, shown = cells - width(keys) - 2, list(notes)
    while shown and width(" · ".join(shown)) > room:
        shown.pop()  # the last is the least urgent
    note = " · ".join(shown)
    if not note:
        return [(keys, "head")]
    return [(keys, "head"), (" " * (cells - width(keys) - width(note)), "plain"), (note, "plain")]
