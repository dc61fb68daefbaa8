"""Edits of JSON text: put a member in, put an item in, take one out. The rest stays as a person wrote it.

Rules of this file
  1. An edit keeps every byte that it does not have to change.
  2. What is added is laid out like its neighbours: their indentation, their line ends, one line when they are.

Not here: reading (agents/installing/json_edit.py), what is added (agents/installing/hook_entries.py).
"""

import json
import re
from typing import Any

from headcount.agents.installing.json_edit import Node

_INDENT = re.compile(r"\n([ \t]+)\S")


def indent_unit(text: str) -> str:
    """One step of indentation as the text has it; two spaces when it has none."""
    match = _INDENT.search(text)
    return match.group(1) if match else "  "


def put_member(text: str, inside: Node, key: str, value: Any) -> str:
    return _put(
        text, inside, [(start, node.end) for _, start, node in inside.members], value, json.dumps(key) + ": "
    )


def put_item(text: str, inside: Node, value: Any) -> str:
    return _put(text, inside, [(node.start, node.end) for node in inside.items], value, "")


def put_instead(text: str, node: Node, value: Any) -> str:
    return text[: node.start] + _printed(text, value, _indent_at(text, node.start)) + text[node.end :]


def take_member(text: str, inside: Node, key: str) -> str:
    spans = [(start, node.end) for _, start, node in inside.members]
    return _take(text, inside, spans, [name for name, _, _ in inside.members].index(key))


def take_item(text: str, inside: Node, index: int) -> str:
    return _take(text, inside, [(node.start, node.end) for node in inside.items], index)


def _put(text: str, inside: Node, spans: list[tuple[int, int]], value: Any, prefix: str) -> str:
    if not spans:
        return _put_first(text, inside, value, prefix)
    first, last = spans[0][0], spans[-1][1]
    between = text[inside.start + 1 : first]
    if "\n" not in between:  # its neighbours share one line
        return f"{text[:last]}, {prefix}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    indent = _indent_at(text, first)
    return f"{text[:last]},{_newline(text)}{indent}{prefix}{_printed(text, value, indent)}{text[last:]}"


def _put_first(text: str, inside: Node, value: Any, prefix: str) -> str:
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


def _printed(text: str, value: Any, indent: str) -> str:
    printed = json.dumps(value, indent=indent_unit(text), ensure_ascii=False)
    return printed.replace("\n", _newline(text) + indent)


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of that position begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
