"""Drift: what Codex's own files hold that no table of ours knows.

Rules of this file
  1. Read only, bounded: the newest rollouts, the end of each, and the hooks file.
  2. Names, counts and places are told, content never.
  3. Strange is harmless: whoever reads these files elsewhere passes it over.

Not here: what is known (known.py, hooks.py), counting (agents/strange.py).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from headcount.agents.codex import known
from headcount.agents.codex.hooks import EVENTS
from headcount.agents.codex.open_conversations import root
from headcount.agents.interface import OnFile, Scanned
from headcount.agents.strange import (
    Findings,
    Record,
    each_record,
    hooks_known,
    is_known,
    newest,
    record_of,
    scan,
    value,
)


def drift(env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
    return scan(list(_files(root(env, home))), LOOKS, on_file)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    if (root / "hooks.json").is_file():
        yield "settings", root / "hooks.json"
    for path in newest(root / "sessions", "*/*/*/rollout-*.jsonl"):
        yield "transcript", path


def _look_at(record: Record, where: str, found: Findings) -> None:
    kind = value(record, "type")
    if not is_known(kind, known.LINES):
        found.add("transcript", "type", kind, where)
    found.add_all("transcript", "field", record.keys() - known.FIELDS, where)
    payload = record_of(record["payload"]) if "payload" in record else None
    if payload is not None and is_known(kind, INSIDE):
        name, names = INSIDE[kind]
        _look_inside(name, payload, names, where, found)


def _look_inside(name: str, payload: Record, names: frozenset[str], where: str, found: Findings) -> None:
    kind, role = value(payload, "type"), value(payload, "role")
    if not is_known(kind, names):
        found.add("transcript", name, kind, where)
    if role is not None and not is_known(role, known.ROLES):
        found.add("transcript", "status", f"role={role}", where)
    item = record_of(payload["item"]) if kind == "item_completed" and "item" in payload else None
    if item is not None and not is_known(completed := value(item, "type"), known.COMPLETED):
        found.add("transcript", "block", completed, where)


INSIDE = {"event_msg": ("event", known.EVENTS), "response_item": ("block", known.ITEMS)}
LOOKS = {"settings": hooks_known(EVENTS, known.HOOK_TYPES), "transcript": each_record(_look_at)}
