"""Drift: what Gemini CLI's own files hold that no table of ours knows.

Rules of this file
  1. Read only, bounded: the newest chats, the end of each, and the settings.
  2. Names, counts and places are told, content never.
  3. Strange is harmless: whoever reads these files elsewhere passes it over.

Not here: what is known (known.py, hooks.py), counting (agents/strange.py).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from headcount.agents.gemini import known
from headcount.agents.gemini.hooks import EVENTS, roots
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

NO_EVENTS = frozenset({"disabled", "enabled"})  # settings that stand among the events


def drift(env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
    return scan([each for root in roots(env, home) for each in _files(root)], LOOKS, on_file)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    if (root / "settings.json").is_file():
        yield "settings", root / "settings.json"
    for path in newest(root / "tmp", "*/chats/session-*.jsonl"):
        yield "transcript", path


def _look_at(record: Record, where: str, found: Findings) -> None:
    found.add_all("transcript", "field", record.keys() - known.FIELDS, where)
    fields = record_of(record["$set"]) if "$set" in record else None
    found.add_all("transcript", "field", (fields or {}).keys() - known.FIELDS, where)
    if "id" in record:
        _message(record, where, found)
    elif (kind := value(record, "kind")) is not None and not is_known(kind, known.KINDS):
        found.add("transcript", "status", f"kind={kind}", where)


def _message(record: Record, where: str, found: Findings) -> None:
    kind, content, calls = value(record, "type"), value(record, "content"), value(record, "toolCalls")
    if not is_known(kind, known.TYPES):
        found.add("transcript", "type", kind, where)
    for part in content if isinstance(content, list) else ():
        found.add_all(
            "transcript", "block", part.keys() - known.PARTS if isinstance(part, dict) else (), where
        )
    for call in calls if isinstance(calls, list) else ():
        status = call.get("status") if isinstance(call, dict) else None
        if not is_known(status, known.CALL_STATUSES):
            found.add("transcript", "status", f"status={status}", where)


LOOKS = {
    "settings": hooks_known(EVENTS.keys() | NO_EVENTS, known.HOOK_TYPES),
    "transcript": each_record(_look_at),
}
