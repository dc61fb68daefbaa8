"""docs/benchmarks.md: the ratios first, then one section a figure, written by the bench itself.

Rules of this file
  1. Measuring one figure replaces its section and leaves the others as they were.
  2. Every section says on which machine, with which versions, under which load and by which command.
  3. The table of ratios is made anew at every writing, from what the sections themselves carry (in a comment that no
     reader sees): it never tells of another run than they do.

Not here: what is measured.
"""

import os
import platform
import re
import sqlite3
import time
from importlib.metadata import version
from pathlib import Path

import msgspec

from bench.figure import Figure, Ratio, table

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by the bench itself: `make bench` for all, `python -m bench NAME` for one. Every figure stands beside its
alternative, measured in the same run; ratios travel between machines, digits do not. Targets are those of the
project; what fell short says so.
"""
RATIOS = ("<!-- ratios -->", "<!-- /ratios -->")
RATIO_HEAD = ["", "ours", "the alternative", "times better", "target", "met"]
CARRIED = re.compile(r"<!-- carries (.*?) -->\n")


def write(figure: Figure, seconds: float, page: Path = PAGE) -> None:
    text = page.read_text() if page.exists() else HEAD
    section = _section(figure, seconds)
    marker = re.compile(rf"<!-- {figure.name} -->.*?<!-- /{figure.name} -->\n", re.DOTALL)
    if marker.search(text):
        text = marker.sub(lambda _: section, text)
    else:
        text = text.rstrip("\n") + "\n\n" + section
    pictures = page.parent / "img"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, drawn in figure.pictures:
        (pictures / f"{name}.svg").write_text(drawn)
    page.write_text(_with_ratios(text))


def _section(figure: Figure, seconds: float) -> str:
    notes = "".join(f"- {note}\n" for note in figure.notes)
    pictures = "".join(f"![{name}](img/{name}.svg)\n\n" for name, _ in figure.pictures)
    carried = msgspec.json.encode(figure.ratios).decode().replace("--", "-\\u002d")
    return (
        f"<!-- {figure.name} -->\n<!-- carries {carried} -->\n## {figure.title}\n\n"
        + "\n".join(figure.lines())
        + "\n\n"
        + pictures
        + notes
        + f"- `python -m bench {figure.name}`, {seconds:.0f} s; {machine()}\n<!-- /{figure.name} -->\n"
    )


def _with_ratios(text: str) -> str:
    """The page with the table of what its sections carry, below the first words."""
    text = re.sub(rf"{RATIOS[0]}.*?{RATIOS[1]}\n\n?", "", text, flags=re.DOTALL)
    ratios = [
        each for found in CARRIED.findall(text) for each in msgspec.json.decode(found, type=tuple[Ratio, ...])
    ]
    if not ratios:
        return text
    lines = ["## Side by side", "", *table(RATIO_HEAD, [each.cells() for each in ratios]), ""]
    head, mark, rest = text.partition("\n<!-- ")
    return f"{head.rstrip()}\n\n{RATIOS[0]}\n" + "\n".join(lines) + f"{RATIOS[1]}\n\n{mark.lstrip()}{rest}"


def machine() -> str:
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("httptools", "msgspec"))
    return (
        f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.release()}, {platform.machine()}, CPython {platform.python_version()}, SQLite "
        f"{sqlite3.sqlite_version}, {packages}; load {load:.1f}{_priority()}"
    )


def _priority() -> str:
    """A bench run ahead of other work on a busy machine says so."""
    try:
        group = Path("/proc/self/autogroup").read_text().split()[-1]
    except (OSError, IndexError):
        group = "0"
    return "" if group == "0" else f", run ahead of other work (autogroup nice {group})"
