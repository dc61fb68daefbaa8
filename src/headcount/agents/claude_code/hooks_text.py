"""Our entries in Claude Code's settings, as text: putting them in, finding them, taking them out.

Rules of this file
  1. Merge, never replace: what is not ours is not touched, moved or re-printed.
  2. Doing it twice is doing it once; an entry of an earlier version is brought up to date where it stands.
  3. What comes out is checked before anybody writes it: everything that was not ours is still there and
     equal, and each of ours is one well-formed entry (one malformed entry makes the agent refuse the whole
     file: accident H8).

Not here: files (agents/settings_file.py), the line (agents/drop_line.py).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from headcount.agents import json_edit
from headcount.agents.drop_line import is_ours
from headcount.agents.json_text import Invalid, Node, parse
from headcount.times import HOOK_WITHIN

Wanted = Mapping[str, str]  # event -> line


class NotMergeable(Exception):
    """Valid JSON, but not the shape of a settings file."""


def merged(text: str, wanted: Wanted) -> str:
    """The text with exactly our wanted entries in it. Raises Invalid or NotMergeable."""
    result = text if text.strip() else "{}\n"
    before = parse(result)
    for event in dict.fromkeys([*_events_of(before), *wanted]):
        result = _settled(result, event, wanted.get(event))
    _check(before.value, parse(result).value, wanted)
    return result


def without(text: str) -> str:
    """The text without any entry of ours, and without the lists that only held ours."""
    if not text.strip():
        return text
    before, result = parse(text), text
    for event in _events_of(before):
        result = _settled(result, event, None)
    hooks = parse(result).member("hooks")
    if result != text and hooks is not None and hooks.value == {}:
        result = json_edit.take_member(result, parse(result), "hooks")
    _check(before.value, parse(result).value, {})
    return result


def found(text: str) -> dict[str, list[str]]:
    """Our lines in the text: event -> lines."""
    try:
        root = parse(text if text.strip() else "{}")
        return {event: lines for event in _events_of(root) if (lines := _lines(root, event))}
    except (Invalid, NotMergeable):
        return {}


def is_switched_off(text: str) -> bool:
    try:
        value = parse(text if text.strip() else "{}").value
    except Invalid:
        return False
    return isinstance(value, dict) and value.get("disableAllHooks") is True


def _settled(text: str, event: str, command: str | None) -> str:
    """One event brought to what is wanted of it. One edit at a time, since each moves what follows it."""
    most = 0 if command is None else 1
    while len(ours := _ours(parse(text), event)) > most:
        text = _taken(text, event, *ours[-1])
    if command is None:
        return text
    if not ours:
        return _added(text, event, {"hooks": [_handler(command)]})
    handler = _groups(parse(text), event)[ours[0][0]].member("hooks")
    assert handler is not None
    node = handler.items[ours[0][1]]
    return text if node.value == _handler(command) else json_edit.put_instead(text, node, _handler(command))


def _handler(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": HOOK_WITHIN}


def _added(text: str, event: str, group: dict[str, Any]) -> str:
    root = parse(text)
    hooks = root.member("hooks")
    if hooks is None:
        return json_edit.put_member(text, root, "hooks", {event: [group]})
    groups = hooks.member(event)
    if groups is None:
        return json_edit.put_member(text, hooks, event, [group])
    return json_edit.put_item(text, groups, group)


def _taken(text: str, event: str, group: int, index: int) -> str:
    """Without one handler; without its group when that held nothing else; without the list likewise."""
    hooks = parse(text).member("hooks")
    groups = hooks.member(event) if hooks is not None else None
    handlers = groups.items[group].member("hooks") if groups is not None else None
    assert hooks is not None and groups is not None and handlers is not None
    if len(handlers.items) > 1:
        return json_edit.take_item(text, handlers, index)
    if len(groups.items) > 1:
        return json_edit.take_item(text, groups, group)
    return json_edit.take_member(text, hooks, event)


def _ours(root: Node, event: str) -> list[tuple[int, int]]:
    """Where our handlers stand: index of the group, index in the group."""
    return [
        (at, index)
        for at, group in enumerate(_groups(root, event))
        if (handlers := group.member("hooks")) is not None
        for index, handler in enumerate(handlers.items)
        if isinstance(handler.value, dict) and is_ours(handler.value.get("command"))
    ]


def _lines(root: Node, event: str) -> list[str]:
    groups = _groups(root, event)
    return [groups[at].value["hooks"][index]["command"] for at, index in _ours(root, event)]


def _groups(root: Node, event: str) -> tuple[Node, ...]:
    hooks = root.member("hooks")
    groups = hooks.member(event) if hooks is not None else None
    if groups is None:
        return ()
    if not isinstance(groups.value, list):
        raise NotMergeable(f'"hooks.{event}" is not a list')
    return groups.items


def _events_of(root: Node) -> list[str]:
    if not isinstance(root.value, dict):
        raise NotMergeable("the settings are not an object")
    hooks = root.member("hooks")
    if hooks is None:
        return []
    if not isinstance(hooks.value, dict):
        raise NotMergeable('"hooks" is not an object')
    return [key for key, _, _ in hooks.members]


def _check(before: Any, after: Any, wanted: Wanted) -> None:
    """A bug here would cost somebody their settings: what is about to be written is read again and compared."""
    if _foreign(before) != _foreign(after):
        raise NotMergeable(
            "the edit would have changed more than our own entries; this is a fault of headcount"
        )
    ours = {
        event: handlers for event in after.get("hooks", {}) if (handlers := list(_handlers(after, event)))
    }
    if ours != {event: [_handler(command)] for event, command in wanted.items()}:
        raise NotMergeable("the edit would not have installed what it should; this is a fault of headcount")


def _handlers(settings: dict[str, Any], event: str) -> Iterator[Any]:
    for group in settings["hooks"][event]:
        listed = group.get("hooks") if isinstance(group, dict) else None
        for handler in listed if isinstance(listed, list) else ():
            if isinstance(handler, dict) and is_ours(handler.get("command")):
                yield handler


def _foreign(settings: dict[str, Any]) -> dict[str, Any]:
    """Everything that is not ours, without the lists that are empty then."""
    kept = {event: _foreign_groups(groups) for event, groups in settings.get("hooks", {}).items()}
    hooks = {event: groups for event, groups in kept.items() if groups}
    return {key: value for key, value in settings.items() if key != "hooks"} | (
        {"hooks": hooks} if hooks else {}
    )


def _foreign_groups(groups: list[Any]) -> list[Any]:
    result = []
    for group in groups:
        listed = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(listed, list):
            result.append(group)
            continue
        foreign = [h for h in listed if not (isinstance(h, dict) and is_ours(h.get("command")))]
        if foreign or not listed:
            result.append({**group, "hooks": foreign})
    return result
