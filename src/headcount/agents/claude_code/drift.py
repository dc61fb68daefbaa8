"""Drift: what Claude Code's own files hold that no table of ours knows.

Rules of this file
  1. Read only, bounded: the newest files, the end of each.
  2. Names, counts and places are told, content never.
  3. Strange is harmless: whoever reads these files elsewhere passes it over.

Not here: what is known (known.py, registry.py, hooks.py), unknown fields of hooks (reports.py), counting
(agents/strange.py).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headcount.agents.claude_code import known
from headcount.agents.claude_code.hooks import EVENTS
from headcount.agents.claude_code.registry import LARGEST, Sessions, parse
from headcount.agents.interface import OnFile, Scanned
from headcount.agents.kit.safe_reading import End
from headcount.agents.strange import Findings, Record, each_record, hooks_known, is_known, newest, scan, value


def drift(env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
    files = [each for root in Sessions().roots(env, home) for each in _files(root)]
    return scan(files, LOOKS, on_file)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    registry = Sessions()
    for path in newest(registry.directory(root), "*.json"):
        if registry.is_entry_name(path.name):
            yield "registry", path
    if (root / "settings.json").is_file():
        yield "settings", root / "settings.json"
    for path in newest(root / "projects", "*/*.jsonl"):
        yield "transcript", path


def _registry(end: End, path: Path, found: Findings) -> None:
    entry = parse(end.content, int(path.stem)) if len(end.content) < LARGEST else None
    for name in entry.unknown if entry else ():
        found.add("registry", "status" if "=" in name else "field", name, str(path))


def _look_at(record: Record, where: str, found: Findings) -> None:
    kind, subtype = value(record, "type"), value(record, "subtype")
    name = f"{kind}:{subtype}" if isinstance(kind, str) and isinstance(subtype, str) else kind
    if not is_known(name, known.RECORDS):
        found.add("transcript", "type", name, where)
    found.add_all("transcript", "field", record.keys() - known.FIELDS, where)
    mode = value(record, "permissionMode")
    if mode is not None and not is_known(mode, known.MODES):
        found.add("transcript", "status", f"permissionMode={mode}", where)
    if kind in ("user", "assistant"):
        _look_at_message(value(record, "message"), where, found)


def _look_at_message(message: Any, where: str, found: Findings) -> None:
    if not isinstance(message, dict):
        return
    stop = message.get("stop_reason")
    if stop is not None and not is_known(stop, known.STOPS):
        found.add("transcript", "status", f"stop_reason={stop}", where)
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and not is_known(block.get("type"), known.BLOCKS):
            found.add("transcript", "block", block.get("type"), where)


LOOKS = {
    "registry": _registry,
    "settings": hooks_known(EVENTS, known.HOOK_TYPES),
    "transcript": each_record(_look_at),
}
