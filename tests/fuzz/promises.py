"""What every reading of foreign bytes promises, whatever the bytes: short, plain, storable.

Rules of this file
  1. A broken promise is an AssertionError that says which.

Not here: which parser promises what (one module a family).
"""

import math
import re
import unicodedata
from typing import Any

import msgspec

from tests.rig.security.hostile_strings import traces

TURNS_TEXT = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ID = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}", re.ASCII)
PATH_MOST = 2 * 4096 + 1  # a directory and a name below it
COUNT_MOST = 2**63 - 1


def is_label(text: str | None, most: int, what: str) -> None:
    """One short line without controls, halves of pairs or anything that turns the direction of text."""
    if text is None:
        return
    assert isinstance(text, str), f"{what} is {type(text).__name__}"
    assert len(text) <= most, f"{what} has {len(text)} characters, at most {most} are promised"
    bad = [
        sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or sign in TURNS_TEXT
    ]
    assert not bad, f"{what} holds U+{ord(bad[0]):04X}"


def is_id(text: str | None, what: str) -> None:
    assert text is None or ID.fullmatch(text), f"{what} reaches command lines and is {text!r}"


def is_absolute(path: str | None, what: str) -> None:
    if path is not None:
        assert path.startswith("/"), f"{what} is not absolute: {path!r}"
        assert len(path) <= PATH_MOST, f"{what} has {len(path)} characters"
        is_text(path, what)


def is_text(text: str | None, what: str) -> None:
    """Can be encoded and holds no control character."""
    if text is not None:
        text.encode()
        assert not any(unicodedata.category(sign) == "Cc" for sign in text), (
            f"{what} holds a control character"
        )


def is_count(number: int | None, what: str) -> None:
    if number is not None:
        assert type(number) is int, f"{what} is {type(number).__name__}"
        assert 0 <= number <= COUNT_MOST, f"{what} is {number}"


def is_moment(at: float | None, what: str) -> None:
    if at is not None:
        assert isinstance(at, float | int) and not isinstance(at, bool), f"{what} is {at!r}"
        assert math.isfinite(at), f"{what} is {at!r}"


def is_shown_plainly(text: str, what: str) -> None:
    assert not traces(text), f"{what} holds what a terminal obeys: {traces(text)[:3]}"


def is_storable(value: Any, what: str) -> None:
    """As JSON, and read back as the same bytes."""
    encoded = msgspec.json.encode(value)
    assert msgspec.json.encode(msgspec.json.decode(encoded, type=type(value))) == encoded, (
        f"{what} changes in the store"
    )
