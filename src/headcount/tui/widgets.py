"""The listing: lines of which one is chosen, drawn only where they are seen.

Rules of this file
  1. A line is made when it is drawn: 500 rows cost what the screen shows of them.
  2. The chosen one is known by its key, not by its number: it stays chosen when lines move.
  3. The head stays while the rest scrolls.

Not here: which lines (tab_lines.py), what choosing means (app.py).
"""

from collections.abc import Callable, Sequence

from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from headcount.tui.paint import Line, strip_of

Draw = Callable[[int], Line]


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
