"""Power cuts, replayed: what a process wrote and synced is recorded, and any moment of it can be
turned into the files that a disk might hold after the power went at that moment.

A synced write is there. Of a write that was not synced any part of its 512-byte sectors may be
there, in any order; a removal that was not synced may have happened or not.
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path

SECTOR = 512
TRACED = "pwrite64,fdatasync,fsync,ftruncate,unlink,write"

_FD = r"\d+<(?P<path>[^>]*)>"
_CALLS = {
    "pwrite64": re.compile(rf'pwrite64\({_FD}, "(?P<data>[^"]*)", \d+, (?P<offset>\d+)\) += \d+'),
    "sync": re.compile(rf"(?:fdatasync|fsync)\({_FD}\) += 0"),
    "ftruncate": re.compile(rf"ftruncate\({_FD}, (?P<offset>\w+)\) += 0"),
    "unlink": re.compile(r'unlink\("(?P<path>[^"]*)"\) += 0'),
    "said": re.compile(r'write\(1<[^>]*>, "(?P<data>[^"]*)", \d+\) += \d+'),
}


@dataclass(frozen=True, slots=True)
class Call:
    kind: str
    name: str = ""  # of the file
    data: bytes = b""
    offset: int = 0


def recorded(trace: Path) -> list[Call]:
    """The storage calls in the order in which they ended."""
    begun: dict[str, str] = {}
    calls: list[Call] = []
    for line in trace.read_text().splitlines():
        thread, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>", text):
            text = begun.pop(thread) + text[resumed.end() :]
        for kind, shape in _CALLS.items():
            if found := shape.match(text):
                calls.append(_call(kind, found.groupdict()))
    return calls


def _call(kind: str, parts: dict[str, str]) -> Call:
    path = _bytes(parts.get("path", "")).decode()
    return Call(kind, Path(path).name, _bytes(parts.get("data", "")), int(parts.get("offset", "0"), 0))


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


class Disk:
    """What is surely on the disk, and what was only asked for."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._sure = {name: bytearray(content) for name, content in files.items()}
        self._asked: dict[str, list[Call]] = {}

    def take(self, call: Call) -> None:
        if call.kind == "sync":
            for asked in self._asked.pop(call.name, []):
                _do(self._sure, asked)
        elif call.kind != "said":
            self._asked.setdefault(call.name, []).append(call)

    def after_a_cut(self, chance: random.Random) -> dict[str, bytes]:
        files = {name: bytearray(content) for name, content in self._sure.items()}
        for asked in self._asked.values():
            for call in asked:
                for part in _sectors(call):
                    if chance.random() < 0.5:
                        _do(files, part)
        return {name: bytes(content) for name, content in files.items()}


def _sectors(call: Call) -> list[Call]:
    if call.kind != "pwrite64":
        return [call]
    parts = []
    start = 0
    while start < len(call.data):
        end = start + SECTOR - (call.offset + start) % SECTOR
        parts.append(Call(call.kind, call.name, call.data[start:end], call.offset + start))
        start = end
    return parts


def _do(files: dict[str, bytearray], call: Call) -> None:
    if call.kind == "unlink":
        files.pop(call.name, None)
        return
    content = files.setdefault(call.name, bytearray())
    end = call.offset + len(call.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if call.kind == "ftruncate":
        del content[call.offset :]
    else:
        content[call.offset : end] = call.data
