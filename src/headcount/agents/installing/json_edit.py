"""JSON as text: reading with positions, so that an edit changes only what it means to change.

Rules of this file
  1. Strict: what JSON.parse would refuse, and a key that stands twice, is Invalid with line and column.
  2. Every node knows where it stands in the text. Nobody re-prints what a person wrote.
  3. Pure: text in, nodes or text out.

Not here: what is edited in it, and why (hook_entries.py), files (settings_file.py).
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
DEEPEST = 200  # far below what Python's stack holds; no settings file is nested like that


class Node(Struct, frozen=True):
    """A value and where it stands: text[start:end]. `members` of an object, `items` of a list."""

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, "Node"], ...] = ()  # key, where the key starts, value
    items: tuple["Node", ...] = ()

    def member(self, key: str) -> "Node | None":
        return next((node for name, _, node in self.members if name == key), None)


@dataclass(frozen=True, slots=True)
class Invalid(Exception):
    reason: str
    line: int
    column: int


def parse(text: str) -> Node:
    """The document as a node; raises Invalid, which the file's border turns into a refusal."""
    node, at = _value(text, _skip(text, 0), 0)
    at = _skip(text, at)
    if at < len(text):
        raise _invalid(text, at, _what(text, at, "something after the end of the document"))
    return node


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > DEEPEST:
        raise _invalid(text, at, "nested too deeply")
    sign = text[at : at + 1]
    if sign == "{":
        return _object(text, at, depth)
    if sign == "[":
        return _list(text, at, depth)
    if sign == '"':
        value, end = _string(text, at)
        return Node(at, end, value), end
    match = _SCALAR.match(text, at)
    if match is None:
        raise _invalid(text, at, _what(text, at, "a value is missing or misspelt"))
    return Node(at, match.end(), json.loads(match.group(), parse_int=_integer)), match.end()


def _object(text: str, start: int, depth: int) -> tuple[Node, int]:
    members: list[tuple[str, int, Node]] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        at = _after_comma(text, at, bool(members), "}")
        key_at = at
        if text[at : at + 1] != '"':
            raise _invalid(text, at, _what(text, at, "a key in double quotes is missing"))
        key, at = _string(text, at)
        if any(key == known for known, _, _ in members):
            raise _invalid(text, key_at, f'the key "{key[:40]}" stands twice in the same object')
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise _invalid(text, at, _what(text, at, "a colon is missing"))
        node, at = _value(text, _skip(text, at + 1), depth + 1)
        members.append((key, key_at, node))
        at = _skip(text, at)
    value = {key: node.value for key, _, node in members}
    return Node(start, at + 1, value, members=tuple(members)), at + 1


def _list(text: str, start: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        node, at = _value(text, _after_comma(text, at, bool(items), "]"), depth + 1)
        items.append(node)
        at = _skip(text, at)
    return Node(start, at + 1, [node.value for node in items], items=tuple(items)), at + 1


def _after_comma(text: str, at: int, is_due: bool, closing: str) -> int:
    if not is_due:
        return at
    if text[at : at + 1] != ",":
        raise _invalid(text, at, _what(text, at, "a comma is missing"))
    after = _skip(text, at + 1)
    if text[after : after + 1] == closing:
        raise _invalid(text, at, "trailing comma")
    return after


def _string(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if match is None:
        raise _invalid(text, at, "a string is not closed, or holds what a JSON string cannot")
    value = json.loads(match.group())
    assert isinstance(value, str)
    return value, match.end()


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _what(text: str, at: int, otherwise: str) -> str:
    if at >= len(text):
        return "the text ends too early"
    if text.startswith(("//", "/*", "#"), at):
        return "a comment, which JSON does not have"
    if text[at] == "'":
        return "single quotes; JSON has double quotes only"
    if text[at] == ",":
        return "a comma with nothing before it"
    return otherwise


def _invalid(text: str, at: int, reason: str) -> Invalid:
    before = text[:at]
    return Invalid(reason, before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1)
