"""Our own driver: changes seeds as JSON, as text and as bytes, by a seeded chance.

Rules of this file
  1. The same seed gives the same inputs on every machine.
  2. JSON is changed as JSON first: what agents send differs from what we expect by a type, a size or a name, seldom
     by a byte. Every line of a file of lines is such a document.
  3. It stops at the first broken promise and says with which input.

Used in the gate, where atheris is not installed, and by atheris as its mutator. Not here: coverage (with_atheris.py).
"""

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz.target import Check

SIZE_MOST = 64 * 1024
HISTORY = 64  # inputs kept to be changed further

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"), "", " ", "0", "-1", "--resume", "../../etc/passwd", "/", "/" * 5000, "//a",
    "\x00", "\x1b]52;c;cm0=\x07", "\x9b31m", "\u202egnp.exe", "\u061c", "\u2028", "\ud800", "\udfff\ud800", "\u0301" * 50,
    "x" * 5000, "１２", "a\nb", "a\r\nb", "2026-11-16T02:20:00.000Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
    "NaN", "__proto__", [], {}, [[]], [{}], {"": None}, [None], {"a": {"b": [1, "x"]}}, ["x"] * 300, [[[[[[[[[[]]]]]]]]]],
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\n", b'"', b"\\u0000", b"\\ud800", b"\\", b"{",
    b"}", b"[", b"]", b",", b":", b"{}", b"[]", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"0x10", b"-0",
    b"[" * 3000, b'{"a":' * 1500, b"//", b"/*", b"*/", b"#", b"'", b"=", b"%00", b"%2f", b"..", b"/**", b"*", b"\x1b[31m",
    b"\xe2\x80\xae", b"\xd8\x9c", b" ", b"\t", b"\x85", b"\xc2\x85", b";", b"@", b"?", b"-", b"--",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """An input that broke a promise."""

    data: bytes
    error: BaseException
    tries: int


def drive(
    check: Check, seeds: Sequence[bytes], *, seed: int, count: int | None = None, seconds: float = 1e9
) -> Found | int:
    """The first input that breaks the promise, or how many kept it."""
    until = time.monotonic() + seconds
    for tries, data in enumerate(inputs(seeds, seed)):
        if tries == count or time.monotonic() > until:
            return tries
        try:
            check(data)
        except Exception as error:
            return Found(data, error, tries + 1)
    raise AssertionError("inputs never end")


def inputs(seeds: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """All seeds first, then changed ones without end."""
    chance = random.Random(seed)
    yield from seeds
    known = list(seeds)
    while True:
        data = mutated(chance.choice(known), known, chance)
        yield data
        if chance.random() < 0.05:  # a change of a change goes where one alone does not
            if len(known) < len(seeds) + HISTORY:
                known.append(data)
            else:
                known[len(seeds) + chance.randrange(HISTORY)] = data


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        way = chance.random()
        if way < 0.6:
            data = _as_json(data, others, chance)
        elif way < 0.9:
            data = _as_bytes(data, chance)
        else:
            data = _spliced(data, chance.choice(others), chance)
    return data[:SIZE_MOST]


# --- as JSON ---------------------------------------------------------------------------------------


def _as_json(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """One document of it changed in one place; bytes that hold no JSON are changed as bytes."""
    lines = data.split(b"\n")
    whole = _parsed(data)
    if whole is not None:
        return _printed(_changed(whole, others, chance), chance)
    at = chance.randrange(len(lines))
    document = _parsed(lines[at])
    if document is None:
        return _as_bytes(data, chance)
    lines[at] = _printed(_changed(document, others, chance), chance)
    return b"\n".join(lines)


def _parsed(data: bytes) -> Any:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _printed(value: Any, chance: random.Random) -> bytes:
    indent = chance.choice((None, None, None, 2))
    try:
        return json.dumps(value, ensure_ascii=chance.random() < 0.7, indent=indent).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return b"{}"


def _changed(value: Any, others: Sequence[bytes], chance: random.Random) -> Any:
    places = list(_places(value))
    if not places:
        return chance.choice(STRANGE)
    holder, key = chance.choice(places)
    way = chance.random()
    if way < 0.55:
        holder[key] = chance.choice(STRANGE)
    elif way < 0.7:
        other, name = chance.choice(places)
        holder[key] = json.loads(json.dumps(other[name]))  # a copy: a document must not hold itself
    elif way < 0.8:
        holder[key] = [holder[key]] if chance.random() < 0.5 else {"a": holder[key]}
    elif way < 0.9 and isinstance(holder, dict):
        del holder[key]
    elif isinstance(holder, dict):
        holder[chance.choice(("", "x", "\ud800", "k" * 3000, "hooks", str(key)))] = chance.choice(STRANGE)
    else:
        holder.insert(key, chance.choice(STRANGE))
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _places(inner)


# --- as bytes --------------------------------------------------------------------------------------


def _as_bytes(data: bytes, chance: random.Random) -> bytes:
    at, way = chance.randrange(len(data) + 1), chance.randrange(6)
    to = min(len(data), at + chance.choice((1, 1, 2, 8, 64)))
    if way == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if way == 1:
        return data[:at] + data[to:]
    if way == 2:
        return data[:at] + data[at:to] * chance.choice((2, 3, 50)) + data[to:]
    if way == 3:
        return data[:at]
    if way == 4:
        return data[:at] + bytes(chance.randrange(256) for _ in range(chance.choice((1, 2, 4)))) + data[to:]
    return data[:at] + chance.choice(TOKENS) + data[at:]


def _spliced(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
