"""Make foreign text safe to show, to quote and to paste, and measure it in terminal cells.

Rules
  1. The result is one line of visible characters: no C0 or C1, no escape sequence, no bidi control, nothing
     of zero width that hides or reorders, no lone surrogate. (Accident: a session title that is an escape
     sequence sets the clipboard of whoever lists sessions.)
  2. Invisible formatting is dropped. A control character becomes `?`, so that it is noticed. White space
     becomes a space.
  3. Inside our own sentence use `said` (for an item: `said_item`): one word stays as it is, anything longer
     is quoted, so that nobody takes it for our advice.
  4. Inside a command that somebody may paste use `command`: every word reaches the program unchanged.
  5. All faces use these functions. The web page has its own with the same rules (web/static/words.js).
  6. Widths are terminal cells, not characters.

Not here: colours (present/screen.py), which strings are foreign (all that came over the wire are).
"""

REPLACEMENT = "?"
COMBINING_MOST = 2  # marks on one letter; more climb over the lines above
SAID_MOST = 80
ITEM_MOST = 600  # an item is cut by nobody: its end is what differs
SIGNS = "._-/#@:+~"
"""Beside letters and digits, what a word may hold: no shell acts on these inside a word."""

_SPACES = frozenset("\t\n\r\v\f\x85\u00a0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    map(chr, range(0x2000, 0x200B))
)

_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks by their class, yet drawn as nothing: what one uses to make two names look alike."""


def clean(value: object) -> str:
    """The string as it may be shown. None is an empty string."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else str(value)
    if text.isascii() and text.isprintable():
        return text
    return _cleaned(text)


def is_word(text: str) -> bool:
    """Whether it is letters, digits and SIGNS only, of any script, all of which can be seen."""
    return text == clean(text) and all(
        character.isalnum() or character in SIGNS or _is_mark(character) for character in text
    )


def said(value: object, most: int = SAID_MOST) -> str:
    """Foreign text inside a sentence: one word as it is, else in quotes; cut."""
    shown = clean(value).strip()
    return shown if len(shown) <= most and is_word(shown) else in_quotes(shown, most)


def said_item(value: object) -> str:
    return said(value, ITEM_MOST)


def in_quotes(value: object, most: int = SAID_MOST) -> str:
    shown = clean(value).strip().replace('"', "'")
    return '"' + (shown if len(shown) <= most else shown[: most - 1] + "…") + '"'


def command(*words: str) -> str:
    """A command to paste into a POSIX shell, which takes it apart into exactly these words. It is one line that can
    be seen: a word that cannot be shown as it is, is written by `printf`, in ASCII. Only line breaks at the end of a
    word are lost: `$(…)` drops them."""
    from shlex import quote

    return " ".join(quote(word) if word == clean(word) else _printed(word) for word in words)


def word_of_command(word: str) -> str:
    """One word that somebody may copy into a command: as it is where no shell acts on it."""
    return word if is_word(word) else command(word)


def _printed(word: str) -> str:
    spelt = "".join(
        chr(byte) if chr(byte) in SIGNS or (byte < 128 and chr(byte).isalnum()) else f"\\{byte:03o}"
        for byte in word.encode("utf-8", "surrogatepass")
    )
    return f"\"$(printf '{spelt}')\""


def _is_mark(character: str) -> bool:
    from unicodedata import category

    return category(character) in ("Mn", "Mc")


def _cleaned(text: str) -> str:
    from unicodedata import category

    kept: list[str] = []
    marks = 0
    for character in text:
        if character in _SPACES:
            kept.append(" ")
            marks = 0
            continue
        kind = category(character)
        if kind == "Cf" or character in _BLANKS or _selects_variation(character):
            continue  # and what stands before and after it stands together
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if marks > COMBINING_MOST:
            continue
        kept.append(character if character.isprintable() else REPLACEMENT)
    return "".join(kept)


def _selects_variation(character: str) -> bool:
    return (
        "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
        or "\u180b" <= character <= "\u180f"
    )


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
