"""Fields of what another program wrote: an id, a path, a text, or nothing.

Rules of this file
  1. Never raises: types are not trusted, every value may be anything.
  2. An id must be one before it is kept: ids reach command lines and must never look like an option or a path
     (I8, K10).
  3. A field that is compared with known words is read by `text_of`, a number that is stored by `count_of`: what is a
     list cannot be looked up, and what has a hundred digits cannot be stored.

Not here: reading JSON (agents/kit/safe_reading.py), text for people (agents/kit/labels.py).
"""

import re
from typing import Any

from headcount.agents.kit.labels import plain

CONVERSATION = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}", re.ASCII)
UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
COUNT_MOST = 2**53  # beyond it no reader of JSON agrees on a number


def id_of(value: Any, form: re.Pattern[str] = CONVERSATION) -> str | None:
    return value if isinstance(value, str) and form.fullmatch(value) else None


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """A number of things; what is none counts as nothing."""
    return value if type(value) is int and 0 < value < COUNT_MOST else 0


def absolute(value: Any) -> str | None:
    """A path that means the same wherever it is read."""
    path = plain(value)
    return path if path is not None and path.startswith("/") else None


def below(directory: Any, path: str | None) -> str | None:
    """What a tool is given may be relative to where its session is."""
    if path is None or path.startswith("/"):
        return path
    root = absolute(directory)
    return f"{root.rstrip('/')}/{path}" if root else None
