"""The one sanitizer of terminals: cleaned text, measured and cut by the cells that it takes.

Rules of this file
  1. `clean`, `said` and `said_item` are core's own, so that whoever shows foreign text, terminal or not, cleans it alike.
  2. Widths are terminal cells, not characters.

Not here: what is cleaned away (present/clean_text.py), colours (present/screen.py), which strings are foreign (all that came
over the wire are).
"""

from headcount.present.clean_text import clean as clean
from headcount.present.clean_text import said as said
from headcount.present.clean_text import said_item as said_item


def width(text: str) -> int:
    """How many cells of a terminal it takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if character < "\u0300":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, cells: int, dots: str = "…") -> str:
    """At most that many cells, cut at the end."""
    if width(text) <= cells:
        return text
    room = cells - width(dots)
    if room <= 0:
        return _head(text, cells)
    return _head(text, room) + dots


def cut_middle(text: str, cells: int, dots: str = "…") -> str:
    """At most that many cells, cut in the middle: names differ at both ends, their prefixes repeat."""
    if width(text) <= cells:
        return text
    room = cells - width(dots)
    if room < 2:
        return cut(text, cells, dots)
    tail = _head(text[::-1], room // 2)[::-1]
    return _head(text, room - width(tail)) + dots + tail


def pad(text: str, cells: int) -> str:
    return text + " " * (cells - width(text))


def _head(text: str, cells: int) -> str:
    taken = 0
    for index, character in enumerate(text):
        taken += _cells(character)
        if taken > cells:
            return text[:index]
    return text
