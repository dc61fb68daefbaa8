"""Plain text: every foreign string goes through here before anybody is shown it.

Rules of this file
  1. What comes out is one line of visible characters: no C0 or C1, no escape sequence, no bidi control,
     nothing of zero width that hides or reorders, no lone surrogate. (Accident: a session title that is
     an escape sequence sets the clipboard of whoever lists sessions.)
  2. Formatting that nobody can see is dropped; a control character leaves a `?`, so that one sees that
     something was there; white space becomes a space.

Not here: widths of terminals (cli/sanitize.py), which strings are foreign (all that came over the wire are).
"""

REPLACEMENT = "?"
COMBINING_MOST = 2  # marks on one letter; more climb over the lines above

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
