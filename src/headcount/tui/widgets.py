"""Widgets of the terminal UI: the list with a chosen line, the bars above and below, and coloured text.

Rules
  1. A line is made when it is drawn: 500 rows cost only what the screen shows of them.
  2. The chosen line is known by its key, not by its number: it stays chosen when lines move.
  3. The head stays in place while the rest scrolls.
  4. Foreign text becomes a `Segment`, which interprets no markup. No other type of Rich or Textual that reads
     text is used for what came over the wire.
  5. Colours are those of `ps`, on the mark and on STATE only. `NO_COLOR` leaves greys and weight.
  6. A bar is one line, cut at the screen's edge. Lost connections and errors are red and come first.

Not here: which lines (tui/tab_lines.py), what choosing means and when something is said (tui/app.py), words
  of a session (present/session_words.py), words of the summary (present/table.py).
"""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from headcount.clean_text import clean, cut, width
from headcount.present.session_words import ASCII_MARKS, GROUPS, MARKS, Row

STYLES = {
    "needs you": Style(color="yellow", bold=True),
    "stopped": Style(color="red"),
    "done": Style(color="cyan"),
    "working": Style(color="green"),
    "unknown": Style(color="magenta"),
    "idle": Style(dim=True),
    "ended": Style(dim=True),
    "killed": Style(color="red"),
    "alarm": Style(color="red"),
    "head": Style(dim=True),
    "bold": Style(bold=True),
    "plain": Style(),
}
CHOSEN = Style(bgcolor="#2b4b6f", bold=True)

Piece = tuple[str, str]  # text, name of a style
Line = list[Piece]

TABS = ("agents", "claims", "leftovers")
OTHERS = "j/k move  n needs you  1-3 tabs  ? help  q quit"
KEYS = {
    "agents": "j/k move  n needs you  Enter go there  / find  s stop  1-3 tabs  ? help  q quit",
    "claims": OTHERS,
    "leftovers": OTHERS,
}

Draw = Callable[[int], Line]


def plain(text: str) -> Line:
    return [(text, "plain")]


def strip_of(line: Line, cells: int, base: Style, *, chosen: bool = False) -> Strip:
    """One line of the screen, exactly that wide. What is chosen has a ground of its own and keeps its colours."""
    over = base + CHOSEN if chosen else base
    pieces = [Segment(clean(text), over + STYLES[name]) for text, name in line if text]
    return Strip(pieces).adjust_cell_length(cells, over)


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


class Listing(ScrollView, can_focus=True):
    DEFAULT_CSS = "Listing { height: 1fr; scrollbar-size-vertical: 1; overflow-x: hidden; }"

    chosen: reactive[str | None] = reactive(None)

    class Chosen(Message):
        def __init__(self, key: str | None) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__()
        self._head: Line = []
        self._keys: Sequence[str | None] = ()  # None: a line that cannot be chosen, as an alarm below its row
        self._draw: Draw = lambda index: []
        self._place: dict[str, int] = {}

    def show(self, head: Line, keys: Sequence[str | None], draw: Draw) -> None:
        self._head, self._keys, self._draw = head, keys, draw
        self._place = {key: index for index, key in enumerate(keys) if key is not None}
        if self.chosen not in self._place:
            self.chosen = next(iter(self._place), None)
        self.virtual_size = Size(self.scrollable_content_region.width, len(keys) + 1)
        self.refresh()

    def move(self, by: int) -> None:
        """To the line that many steps away, as far as there are lines."""
        if not self._place:
            return
        order = list(self._place)
        here = order.index(self.chosen) if self.chosen in self._place else 0
        self.choose(order[min(max(here + by, 0), len(order) - 1)])

    def choose(self, key: str) -> None:
        if key in self._place:
            self.chosen = key
            self._bring_into_view(self._place[key])

    def watch_chosen(self, key: str | None) -> None:
        self.post_message(self.Chosen(key))
        self.refresh()

    def _bring_into_view(self, index: int) -> None:
        """Below the head, which covers the first line of what is scrolled."""
        top, height = int(self.scroll_offset.y), self.size.height
        if index < top:
            self.scroll_to(y=index, animate=False)
        elif index + 1 >= top + height:
            self.scroll_to(y=index + 2 - height, animate=False)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.rich_style
        if y == 0:
            return strip_of(self._head, width, base + Style(dim=True))
        index = int(self.scroll_offset.y) + y - 1
        if index >= len(self._keys):
            return Strip.blank(width, base)
        key = self._keys[index]
        return strip_of(self._draw(index), width, base, chosen=key is not None and key == self.chosen)

    def on_click(self, event: "object") -> None:
        y = getattr(event, "y", 0)
        index = int(self.scroll_offset.y) + y - 1
        if y > 0 and 0 <= index < len(self._keys) and (key := self._keys[index]) is not None:
            self.chosen = key

    @property
    def seen(self) -> Region:
        """What of the lines is on the screen now; for tests and measurements."""
        return Region(0, int(self.scroll_offset.y), self.size.width, self.size.height)
