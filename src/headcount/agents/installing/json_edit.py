"""Edit JSON as text: add or remove a member or an item, and keep every other byte.

Rules
  1. Strict: what JSON.parse refuses, and a duplicate key, is Invalid with line and column.
  2. Every node knows its position in the text. Existing text is never re-serialised.
  3. Pure: text in, nodes or text out.
  4. An edit keeps every byte that it does not have to change.
  5. Additions are formatted like their neighbours: same indentation and line ends, on one line if they are.

Not here: what is put in or taken out (hook_entries.py), files (settings_file.py).
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

_INDENT = re.compile(r"\n([ \t]+)\S")


class Node(Struct, frozen=True):
    """A value and its position: text[start:end]. `members` of an object, `items` of a list."""

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
    """The document as a node; raises Invalid, which the caller turns into a refusal."""
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
        raise _invalid(text, at, "a string is not closed, or contains a character that JSON does not allow")
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


def indent_unit(text: str) -> str:
    """One step of indentation as the text uses it; two spaces if it has none."""
    match = _INDENT.search(text)
    return match.group(1) if match else "  "


def put_member(text: str, inside: Node, key: str, value: object) -> str:
    return _put(
        text, inside, [(start, node.end) for _, start, node in inside.members], value, json.dumps(key) + ": "
    )


def put_item(text: str, inside: Node, value: object) -> str:
    return _put(text, inside, [(node.start, node.end) for node in inside.items], value, "")


def put_instead(text: str, node: Node, value: object) -> str:
    return text[: node.start] + _printed(text, value, _indent_at(text, node.start)) + text[node.end :]


def take_member(text: str, inside: Node, key: str) -> str:
    spans = [(start, node.end) for _, start, node in inside.members]
    return _take(text, inside, spans, [name for name, _, _ in inside.members].index(key))


def take_item(text: str, inside: Node, index: int) -> str:
    return _take(text, inside, [(node.start, node.end) for node in inside.items], index)


def _put(text: str, inside: Node, spans: list[tuple[int, int]], value: object, prefix: str) -> str:
    if not spans:
        return _put_first(text, inside, value, prefix)
    first, last = spans[0][0], spans[-1][1]
    between = text[inside.start + 1 : first]
    if "\n" not in between:  # its neighbours share one line
        return f"{text[:last]}, {prefix}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    indent = _indent_at(text, first)
    return f"{text[:last]},{_newline(text)}{indent}{prefix}{_printed(text, value, indent)}{text[last:]}"


def _put_first(text: str, inside: Node, value: object, prefix: str) -> str:
    outer, newline = _indent_at(text, inside.start), _newline(text)
    inner = outer + indent_unit(text)
    opening, closing = text[inside.start], text[inside.end - 1]
    made = f"{opening}{newline}{inner}{prefix}{_printed(text, value, inner)}{newline}{outer}{closing}"
    return text[: inside.start] + made + text[inside.end :]


def _take(text: str, inside: Node, spans: list[tuple[int, int]], index: int) -> str:
    if len(spans) == 1:
        return text[: inside.start + 1] + text[inside.end - 1 :]
    if index == 0:  # with the comma and the space after it
        return text[: spans[0][0]] + text[spans[1][0] :]
    return text[: spans[index - 1][1]] + text[spans[index][1] :]  # with the comma and the space before it


def _printed(text: str, value: object, indent: str) -> str:
    printed = json.dumps(value, indent=indent_unit(text), ensure_ascii=False)
    return printed.replace("\n", _newline(text) + indent)


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of that position begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
