"""Looking for drift: which files are looked at, and how what nobody knows is counted.

Rules of this file
  1. Names, counts and places are told, content never. A name that does not look like one is not told either.
  2. Only the newest files, the end of each; a line or a value that cannot be read is passed over.

Not here: what is known (each agent's own tables), what is shown (cli/strangers.py).
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.interface import OnFile, Scanned, Strange
from headcount.agents.kit.safe_reading import End, decoded, line_of, read_end

FILES_MOST = 50
TAIL = 64 * 1024
STRANGE_MOST = 200
NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_.:=<>-]{0,59}", re.ASCII)

_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any = msgspec.json.Decoder()

Key = tuple[str, str, str]  # file, kind, name
Record = dict[str, msgspec.Raw]


class Findings:
    def __init__(self) -> None:
        self._found: dict[Key, list[Any]] = {}

    def add(self, file: str, kind: str, name: object, where: str) -> None:
        told = name if isinstance(name, str) and NAME.fullmatch(name) else "(not a plain name)"
        entry = self._found.setdefault((file, kind, told), [0, where])
        entry[0] += 1

    def add_all(self, file: str, kind: str, names: Iterable[object], where: str) -> None:
        for name in names:
            self.add(file, kind, name, where)

    def all(self) -> tuple[Strange, ...]:
        ordered = sorted(self._found.items(), key=lambda each: (each[0][:2], -each[1][0], each[0][2]))
        return tuple(Strange(*key, count, where) for key, (count, where) in ordered[:STRANGE_MOST])


Look = Callable[[End, Path, Findings], None]


def scan(files: Sequence[tuple[str, Path]], looks: Mapping[str, Look], on_file: OnFile) -> Scanned:
    """Each file by the look of its kind."""
    found = Findings()
    for nth, (kind, path) in enumerate(files, 1):
        end = read_end(path, TAIL)
        if end is not None:
            looks[kind](end, path, found)
        on_file(nth, len(files))
    return Scanned(len(files), found.all())


def newest(directory: Path, pattern: str) -> list[Path]:
    written = []
    for path in directory.glob(pattern):
        try:
            written.append((path.stat().st_mtime, path))
        except OSError:
            continue  # removed while we looked
    return [path for _, path in sorted(written, reverse=True)[:FILES_MOST]]


def records(end: End, path: Path) -> Iterator[tuple[Record, str]]:
    """Each JSON object of a file of lines, and where it stands."""
    at = end.start
    for row in end.content.split(b"\n"):
        record = record_of(row)
        if record is not None:
            yield record, f"{path} byte {at}"
        at += len(row) + 1


def record_of(row: bytes | msgspec.Raw) -> Record | None:
    return line_of(_keys, bytes(row))


def is_known(name: object, names: Container[object]) -> bool:
    """Whether a table has that name; a list or an object, which cannot be looked up, stands in none."""
    return not isinstance(name, list | dict) and name in names


def value(record: Record, key: str) -> Any:
    return decoded(_any, record[key]) if key in record else None


def document(content: bytes) -> dict[str, Any]:
    """A file that is one JSON object; empty when it is none."""
    found = decoded(_any, content)
    return found if isinstance(found, dict) else {}


def hooks_known(events: Container[str], types: Container[object]) -> Look:
    """The hooks of a settings file, in the form that three of the agents share."""

    def look(end: End, path: Path, found: Findings) -> None:
        hooks = document(end.content).get("hooks")
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            if event not in events:
                found.add("settings", "event", event, str(path))
            for group in groups if isinstance(groups, list) else ():
                given = group.get("hooks") if isinstance(group, dict) else None
                for hook in given if isinstance(given, list) else ():
                    if isinstance(hook, dict) and not is_known(hook.get("type"), types):
                        found.add("settings", "type", hook.get("type"), str(path))

    return look


def each_record(look_at: Callable[[Record, str, Findings], None]) -> Look:
    """A file of lines, each by itself."""

    def look(end: End, path: Path, found: Findings) -> None:
        for record, where in records(end, path):
            look_at(record, where, found)

    return look
