"""Paint: text and colours as pieces that Textual draws as they are.

Rules of this file
  1. Foreign text becomes a `Segment`, which has no markup to be interpreted: no other type of Rich or Textual
     that reads text is used for what came over the wire.
  2. The same colours as `ps`, on the mark and on STATE only; `NO_COLOR` leaves greys and weight.

Not here: which words (present/session_words.py), where a piece is put (the widgets).
"""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from headcount.present.clean_text import clean

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


def plain(text: str) -> Line:
    return [(text, "plain")]


def strip_of(line: Line, cells: int, base: Style, *, chosen: bool = False) -> Strip:
    """One line of the screen, exactly that wide. What is chosen has a ground of its own and keeps its colours."""
    over = base + CHOSEN if chosen else base
    pieces = [Segment(clean(text), over + STYLES[name]) for text, name in line if text]
    return Strip(pieces).adjust_cell_length(cells, over)
