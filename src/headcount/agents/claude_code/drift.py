"""Drift: what Claude Code's own files hold that no table of ours knows.

Rules of this file
  1. Read only, bounded: the newest files, the end of each.
  2. Names, counts and places are told, content never. A name that does not look like one is not told either.
  3. Strange is harmless: whoever reads these files elsewhere passes it over.

Not here: what is known (known.py, registry.py, events.py), unknown fields of hooks (translate.py).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.claude_code import known
from headcount.agents.claude_code.events import EVENTS
from headcount.agents.claude_code.registry import LARGEST, Sessions, parse
from headcount.agents.file_end import End, read_end
from headcount.agents.port import OnFile, Scanned, Strange

FILES_MOST = 50
TAIL = 64 * 1024
STRANGE_MOST = 200
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:=<>-]{0,59}", re.ASCII)

_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()

Key = tuple[str, str, str]  # file, kind, name


class Findings:
    def __init__(self) -> None:
        self._found: dict[Key, list[Any]] = {}

    def add(self, file: str, kind: str, name: object, where: str) -> None:
        told = name if isinstance(name, str) and NAME.fullmatch(name) else "(not a plain name)"
        entry = self._found.setdefault((file, kind, told), [0, where])
        entry[0] += 1

    def all(self) -> tuple[Strange, ...]:
        ordered = sorted(self._found.items(), key=lambda each: (each[0][:2], -each[1][0], each[0][2]))
        return tuple(Strange(*key, count, where) for key, (count, where) in ordered[:STRANGE_MOST])


def drift(env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
    files = [each for root in Sessions().roots(env, home) for each in _files(root)]
    found = Findings()
    for nth, (kind, path) in enumerate(files, 1):
        end = read_end(path, TAIL)
        if end is not None:
            READERS[kind](end, path, found)
        on_file(nth, len(files))
    return Scanned(len(files), found.all())


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    registry = Sessions()
    for path in _newest(registry.directory(root), "*.json"):
        if registry.is_entry_name(path.name):
            yield "registry", path
    if (root / "settings.json").is_file():
        yield "settings", root / "settings.json"
    for path in _newest(root / "projects", "*/*.jsonl"):
        yield "transcript", path


def _newest(directory: Path, pattern: str) -> list[Path]:
    written = []
    for path in directory.glob(pattern):
        try:
            written.append((path.stat().st_mtime, path))
        except OSError:
            continue  # removed while we looked
    return [path for _, path in sorted(written, reverse=True)[:FILES_MOST]]


def _registry(end: End, path: Path, found: Findings) -> None:
    entry = parse(end.content, int(path.stem)) if len(end.content) < LARGEST else None
    for name in entry.unknown if entry else ():
        found.add("registry", "status" if "=" in name else "field", name, str(path))


def _settings(end: End, path: Path, found: Findings) -> None:
    try:
        settings = _any.decode(end.content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if event not in EVENTS:
            found.add("settings", "event", event, str(path))
        for group in groups if isinstance(groups, list) else ():
            for hook in group.get("hooks") or () if isinstance(group, dict) else ():
                if isinstance(hook, dict) and hook.get("type") not in known.HOOK_TYPES:
                    found.add("settings", "type", hook.get("type"), str(path))


def _transcript(end: End, path: Path, found: Findings) -> None:
    at = end.start
    for row in end.content.split(b"\n"):
        record = _record(row)
        if record is not None:
            _look_at(record, f"{path} byte {at}", found)
        at += len(row) + 1


def _record(row: bytes) -> dict[str, msgspec.Raw] | None:
    if not row.startswith(b"{"):
        return None
    try:
        return _keys.decode(row)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _look_at(record: dict[str, msgspec.Raw], where: str, found: Findings) -> None:
    kind, subtype = _value(record, "type"), _value(record, "subtype")
    name = f"{kind}:{subtype}" if isinstance(kind, str) and isinstance(subtype, str) else kind
    if name not in known.RECORDS:
        found.add("transcript", "type", name, where)
    for key in record.keys() - known.FIELDS:
        found.add("transcript", "field", key, where)
    mode = _value(record, "permissionMode")
    if mode is not None and mode not in known.MODES:
        found.add("transcript", "status", f"permissionMode={mode}", where)
    if kind in ("user", "assistant"):
        _look_at_message(_value(record, "message"), where, found)


def _look_at_message(message: Any, where: str, found: Findings) -> None:
    if not isinstance(message, dict):
        return
    stop = message.get("stop_reason")
    if stop is not None and stop not in known.STOPS:
        found.add("transcript", "status", f"stop_reason={stop}", where)
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") not in known.BLOCKS:
            found.add("transcript", "block", block.get("type"), where)


def _value(record: dict[str, msgspec.Raw], key: str) -> Any:
    try:
        return _any.decode(record[key]) if key in record else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


READERS = {"registry": _registry, "settings": _settings, "transcript": _transcript}
