"""A glance: how many agents need you, are done, work, in a few characters.

Rules
  1. Numbers and marks only, nothing that anybody wrote: it stands in prompts and status bars, which read
     escape sequences and formats.
  2. What is nought is left out; when nobody is there, it is empty.
  3. Idle ones are not counted: a glance is for what may want a person. Unknown ones are: they may be waiting, and
     where no hooks are installed they may be all there is.

Not here: who counts (the daemon), the marks of rows (present/session_words.py; a test compares them).
"""

from collections.abc import Mapping

MARKS = (
    ("waiting", "▲", ">"),
    ("failed", "■", "#"),
    ("done", "✓", "+"),
    ("working", "●", "*"),
    ("unknown", "?", "?"),
)
"""By activity, in the order of the table: the mark, and the one where there is no UTF-8."""


def glance(counts: Mapping[str, int], *, unicode: bool = True) -> str:
    """`▲2 ■1 ✓1 ●3 ?1`."""
    parts = []
    for activity, mark, plain in MARKS:
        count = counts.get(activity, 0)
        if count > 0:
            parts.append(f"{mark if unicode else plain}{count}")
    return " ".join(parts)
