"""Our entries in an agent's JSON settings, as text: putting them in, finding them, taking them out.

Rules
  1. Merge, never replace: what is not ours is not touched, moved or re-printed.
  2. Idempotent. An entry of an earlier version is updated in place.
  3. The result is checked before it is written: everything that is not ours is still there and equal, and each
     of ours is one well-formed entry (one malformed entry makes the agent refuse the whole file: accident H8).

Claude Code, Codex and Gemini share the shape: `hooks: {event: [{matcher?, hooks: [{type, command, timeout}]}]}`.
Not here: files (settings_file.py), the lines (hook_line_mailbox.py, hook_line_asks_daemon.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headcount.agents.installing import hook_line_asks_daemon, hook_line_mailbox, json_edit
from headcount.agents.installing.hook_line_asks_daemon import AskLine
from headcount.agents.installing.json_edit import Invalid, Node, parse
from headcount.times import HOOK_WITHIN

Wanted = Mapping[str, str]  # event -> line

OBSERVE = "observe"
KINDS = (OBSERVE, *hook_line_asks_daemon.KINDS)
"""An event has at most one entry of ours of each kind."""

Group = dict[str, Any]
Settings = dict[str, Any]
Entries = Mapping[tuple[str, str], Group]  # event and kind -> the group that holds our one handler


def kind_of(command: object) -> str | None:
    """Which kind of our lines this is; None: not ours."""
    return OBSERVE if hook_line_mailbox.is_ours(command) else hook_line_asks_daemon.kind_of(command)


class NotMergeable(Exception):
    """Valid JSON, but not the shape of a settings file."""


def merged(text: str, wanted: Wanted, asking: Sequence[AskLine] = (), within: int = HOOK_WITHIN) -> str:
    """The text with exactly our wanted entries in it. `within` is the time limit in the agent's own unit.
    Raises Invalid or NotMergeable."""
    result = text if text.strip() else "{}\n"
    before = parse(result)
    entries = _entries(wanted, asking, within)
    events = dict.fromkeys([*_events_of(before), *(event for event, _ in entries)])
    for event in events:
        for kind in KINDS:
            result = _with_entry(result, event, kind, entries.get((event, kind)))
    _check(before.value, parse(result).value, entries)
    return result


def _entries(wanted: Wanted, asking: Sequence[AskLine], within: int) -> "Entries":
    observing = {(event, OBSERVE): _group(command, None, within) for event, command in wanted.items()}
    return observing | {
        (each.event, each.kind): _group(each.command, each.matcher, within) for each in asking
    }


def without(text: str) -> str:
    """The text without any entry of ours, and without the lists that only held ours."""
    if not text.strip():
        return text
    before, result = parse(text), text
    for event in _events_of(before):
        for kind in KINDS:
            result = _with_entry(result, event, kind, None)
    hooks = parse(result).member("hooks")
    if result != text and hooks is not None and hooks.value == {}:
        result = json_edit.take_member(result, parse(result), "hooks")
    _check(before.value, parse(result).value, {})
    return result


def found(text: str, kind: str = OBSERVE) -> dict[str, list[str]]:
    """Our lines of that kind in the text: event -> lines."""
    try:
        root = parse(text if text.strip() else "{}")
        return {event: lines for event in _events_of(root) if (lines := _lines(root, event, kind))}
    except (Invalid, NotMergeable):
        return {}


def is_switched_off(text: str) -> bool:
    try:
        value = parse(text if text.strip() else "{}").value
    except Invalid:
        return False
    return isinstance(value, dict) and value.get("disableAllHooks") is True


def _with_entry(text: str, event: str, kind: str, wanted: "Group | None") -> str:
    """Add or update the entry of one event. One edit at a time, because each shifts the positions after it."""
    most = 0 if wanted is None else 1
    while len(ours := _ours(parse(text), event, kind)) > most:
        text = _taken(text, event, *ours[-1])
    if wanted is None:
        return text
    if not ours:
        return _added(text, event, wanted)
    at, index = ours[0]
    group = _groups(parse(text), event)[at]
    if (
        "matcher" in wanted and group.value.get("matcher") != wanted["matcher"]
    ):  # in a group whose matcher is for other tools
        return _added(_taken(text, event, at, index), event, wanted)
    handlers = group.member("hooks")
    assert handlers is not None
    node, handler = handlers.items[index], wanted["hooks"][0]
    return text if node.value == handler else json_edit.put_instead(text, node, handler)


def _group(command: str, matcher: str | None, within: int) -> Group:
    handler = {"type": "command", "command": command, "timeout": within}
    return ({"matcher": matcher} if matcher is not None else {}) | {"hooks": [handler]}


def _added(text: str, event: str, group: Group) -> str:
    root = parse(text)
    hooks = root.member("hooks")
    if hooks is None:
        return json_edit.put_member(text, root, "hooks", {event: [group]})
    groups = hooks.member(event)
    if groups is None:
        return json_edit.put_member(text, hooks, event, [group])
    return json_edit.put_item(text, groups, group)


def _taken(text: str, event: str, group: int, index: int) -> str:
    """Remove one handler, and its group and list if they are then empty."""
    hooks = parse(text).member("hooks")
    groups = hooks.member(event) if hooks is not None else None
    handlers = groups.items[group].member("hooks") if groups is not None else None
    assert hooks is not None and groups is not None and handlers is not None
    if len(handlers.items) > 1:
        return json_edit.take_item(text, handlers, index)
    if len(groups.items) > 1:
        return json_edit.take_item(text, groups, group)
    return json_edit.take_member(text, hooks, event)


def _ours(root: Node, event: str, kind: str) -> list[tuple[int, int]]:
    """Where our handlers are: index of the group, index in the group."""
    return [
        (at, index)
        for at, group in enumerate(_groups(root, event))
        if (handlers := group.member("hooks")) is not None
        for index, handler in enumerate(handlers.items)
        if isinstance(handler.value, dict) and kind_of(handler.value.get("command")) == kind
    ]


def _lines(root: Node, event: str, kind: str) -> list[str]:
    groups = _groups(root, event)
    return [groups[at].value["hooks"][index]["command"] for at, index in _ours(root, event, kind)]


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


def _check(before: Settings, after: Settings, wanted: Entries) -> None:
    """Parse the result again and compare it before it is written: a bug here would destroy a user's settings."""
    if _foreign(before) != _foreign(after):
        raise NotMergeable(
            "the edit would have changed more than our own entries; this is a fault of headcount"
        )
    ours: dict[tuple[str, str], list[object]] = {}
    for event in after.get("hooks", {}):
        for kind, handler in _handlers(after, event):
            ours.setdefault((event, kind), []).append(handler)
    if ours != {key: group["hooks"] for key, group in wanted.items()}:
        raise NotMergeable("the edited settings failed our own check; this is a bug in headcount")


def _handlers(settings: Settings, event: str) -> Iterator[tuple[str, object]]:
    for group in settings["hooks"][event]:
        listed = group.get("hooks") if isinstance(group, dict) else None
        for handler in listed if isinstance(listed, list) else ():
            kind = kind_of(handler.get("command")) if isinstance(handler, dict) else None
            if kind is not None:
                yield kind, handler


def _foreign(settings: Settings) -> Settings:
    """Everything that is not ours, without lists that held only our entries."""
    kept = {event: _foreign_groups(groups) for event, groups in settings.get("hooks", {}).items()}
    hooks = {event: groups for event, groups in kept.items() if groups}
    return {key: value for key, value in settings.items() if key != "hooks"} | (
        {"hooks": hooks} if hooks else {}
    )


def _foreign_groups(groups: list[object]) -> list[object]:
    result = []
    for group in groups:
        listed = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(group, dict) or not isinstance(listed, list):
            result.append(group)
            continue
        foreign = [h for h in listed if not (isinstance(h, dict) and kind_of(h.get("command")))]
        if foreign or not listed:
            result.append({**group, "hooks": foreign})
    return result
