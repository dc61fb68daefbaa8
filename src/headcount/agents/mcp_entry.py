"""Our MCP server as an entry in an agent's settings text: putting it in, finding it, taking it out.

Rules of this file
  1. Merge, never replace: every byte that is not of our entry stays. Doing it twice is doing it once.
  2. What comes out is read again before anybody writes it: all that was there is there and equal.
  3. TOML has no editor here: our table is a block of whole lines at the end, found again by its first line.
  4. Pure: text in, text out.

Not here: files and whose they are (agents/installing/mcp_server.py), JSON as text (agents/installing/json_edit.py, json_edit.py).
"""

import json
import re
import tomllib
from typing import Any

from msgspec import Struct, field

from headcount.agents.installing import json_edit
from headcount.agents.installing.json_edit import Node, parse

NAME = "headcount"
MARK = "# headcount (undo: headcount mcp uninstall)"
_BLOCK = re.compile(
    rf"(?:(?<!\r)\n)?{re.escape(MARK)}\n\[mcp_servers\.{NAME}\]\n(?:(?:command|args|env) = [^\n]*(?:\n|\Z))+"
)


class NotMergeable(Exception):
    """Readable, but not of the shape that our entry fits into."""


class Server(Struct, frozen=True):
    """The command that an agent starts. Agents pass little of their environment on, so what we need is named."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)

    def usual(self) -> dict[str, Any]:
        """As most agents want it."""
        return {"command": self.command, "args": list(self.args), **({"env": self.env} if self.env else {})}

    def opencode(self) -> dict[str, Any]:
        named = {"environment": self.env} if self.env else {}
        return {"type": "local", "command": [self.command, *self.args], "enabled": True, **named}


# --- JSON ------------------------------------------------------------------------------------------


def put_json(text: str, section: str, value: dict[str, Any]) -> str:
    result = text if text.strip() else "{}\n"
    before = _object(parse(result))
    there = before.member(section)
    if there is None:
        result = json_edit.put_member(result, before, section, {NAME: value})
    elif not isinstance(there.value, dict):
        raise NotMergeable(f'"{section}" is not an object')
    else:
        ours = there.member(NAME)
        if ours is None:
            result = json_edit.put_member(result, there, NAME, value)
        elif ours.value != value:
            result = json_edit.put_instead(result, ours, value)
    _check(before.value, parse(result).value, section)
    return result


def take_json(text: str, section: str) -> str:
    if not text.strip():
        return text
    before = _object(parse(text))
    there = before.member(section)
    if there is None or there.member(NAME) is None:
        return text
    result = json_edit.take_member(text, there, NAME)
    after = parse(result)
    if after.value[section] == {}:
        result = json_edit.take_member(result, after, section)
    _check(before.value, parse(result).value, section)
    return result


def find_json(text: str, section: str) -> Any:
    """Our entry as it stands there; None: there is none."""
    there = parse(text).value if text.strip() else {}
    found = there.get(section) if isinstance(there, dict) else None
    return found.get(NAME) if isinstance(found, dict) else None


# --- TOML ------------------------------------------------------------------------------------------


def put_toml(text: str, server: Server) -> str:
    before, wanted = _tables(text), server.usual()
    if find_toml(text) == wanted:
        return text
    rest = _BLOCK.sub("", text, count=1)
    if find_toml(rest) is not None:
        raise NotMergeable(f"it has a [mcp_servers.{NAME}] that somebody else wrote; remove that first")
    if not isinstance(_tables(rest).get("mcp_servers", {}), dict):
        raise NotMergeable("mcp_servers is not a table")
    gap = "" if not rest or rest.endswith("\n") else "\n"
    result = f"{rest}{gap}{_separator(rest)}{_block(server)}"
    try:
        after = _tables(result)
    except tomllib.TOMLDecodeError as error:  # mcp_servers = { … } on one line cannot be added to
        raise NotMergeable(f"our table does not fit in ({error})") from error
    _check(before, after, "mcp_servers")
    return result


def take_toml(text: str) -> str:
    before = _tables(text)
    result = _BLOCK.sub("", text, count=1)
    _check(before, _tables(result), "mcp_servers")
    return result


def find_toml(text: str) -> Any:
    servers = _tables(text).get("mcp_servers")
    return servers.get(NAME) if isinstance(servers, dict) else None


def _tables(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number of thousands of digits; lists in lists without end
        raise NotMergeable(f"it cannot be read ({error})") from error


def _separator(rest: str) -> str:
    return "\n" if rest.strip() else ""


def _block(server: Server) -> str:
    lines = [MARK, f"[mcp_servers.{NAME}]", f"command = {_toml(server.command)}"]
    lines.append(f"args = [{', '.join(_toml(each) for each in server.args)}]")
    if server.env:
        pairs = ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in server.env.items())
        lines.append(f"env = {{ {pairs} }}")
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    """A basic string of TOML: JSON's escapes are among its own, but for pairs of surrogates; DEL is not plain."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- both ------------------------------------------------------------------------------------------


def _object(node: Node) -> Node:
    if not isinstance(node.value, dict):
        raise NotMergeable("it is not an object")
    return node


def _check(before: Any, after: Any, section: str) -> None:
    if _others(before, section) != _others(after, section):
        raise NotMergeable("something else in it would change")


def _others(document: dict[str, Any], section: str) -> dict[str, Any]:
    """All that is not ours; a section that holds nothing else counts as absent."""
    rest = {name: value for name, value in (document.get(section) or {}).items() if name != NAME}
    others = {name: value for name, value in document.items() if name != section}
    return {**others, section: rest} if rest else others
