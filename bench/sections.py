"""A page of sections: each is written by what it tells of, and a table on top is made of what all of them carry.

Rules of this file
  1. Writing one section replaces it and leaves the others as they were.
  2. Every section says by which command it came about, on which machine, with which versions and under which load.
  3. What a section carries for the table stands in a comment that no reader sees. The table is made anew of that: it
     never tells of another run than the sections do.

Not here: what is told (page.py, tests/campaign/page.py).
"""

import os
import platform
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec

CARRIED = re.compile(r"<!-- carries (.*?) -->\n")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    title: str
    body: Sequence[str]  # lines
    notes: Sequence[str]
    command: str
    seconds: float
    carries: tuple[Any, ...]

    def text(self) -> str:
        how = f"`{self.command}`, {self.seconds:.0f} s; {machine()}"
        return _marked(
            self.name,
            f"<!-- carries {_in_a_comment(self.carries)} -->",
            f"## {self.title}",
            "",
            *self.body,
            "",
            *(f"- {note}" for note in (*self.notes, how)),
        )


def with_section(text: str, section: Section) -> str:
    """The page with it, in its place or at the end."""
    written, place = section.text(), _place(section.name)
    if place.search(text):
        return place.sub(lambda _: written, text)
    return text.rstrip("\n") + "\n\n" + written


def with_table(text: str, name: str, title: str, table: Sequence[str]) -> str:
    """The page with the table below its first words."""
    bare = without_table(text, name)
    head, mark, rest = bare.partition("\n<!-- ")
    return f"{head.rstrip()}\n\n{_marked(name, f'## {title}', '', *table)}\n{mark.lstrip()}{rest}"


def without_table(text: str, name: str) -> str:
    return re.sub(_place(name).pattern + "\n?", "", text, flags=re.DOTALL)


def carried(text: str, kind: type[T]) -> list[T]:
    """What all sections carry, in their order."""
    return [each for found in CARRIED.findall(text) for each in msgspec.json.decode(found, type=list[kind])]  # type: ignore[valid-type]


def machine() -> str:
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("httptools", "msgspec"))
    return (
        f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.release()}, {platform.machine()}, CPython {platform.python_version()} {_pace()}, SQLite "
        f"{sqlite3.sqlite_version}, {packages}; load {load:.1f}{_priority()}"
    )


def _pace() -> str:
    """A Python that was built without its profile is a third slower, and does not say so."""
    began, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number & 3
    return f"(counts a million in {(time.perf_counter() - began) * 1000:.0f} ms)"


def _priority() -> str:
    """A bench run ahead of other work on a busy machine says so."""
    try:
        group = Path("/proc/self/autogroup").read_text().split()[-1]
    except (OSError, IndexError):
        group = "0"
    return "" if group == "0" else f", run ahead of other work (autogroup nice {group})"


def _marked(name: str, *lines: str) -> str:
    return "\n".join([f"<!-- {name} -->", *lines, f"<!-- /{name} -->", ""])


def _place(name: str) -> re.Pattern[str]:
    return re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->\n", re.DOTALL)


def _in_a_comment(values: tuple[Any, ...]) -> str:
    """Two dashes would end it."""
    return msgspec.json.encode(values).decode().replace("--", "-\\u002d")
