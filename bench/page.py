"""docs/benchmarks.md: one section a figure, written by the bench itself.

Rules of this file
  1. Measuring one figure replaces its section and leaves the others as they were.
  2. Every section says on which machine, with which versions, under which load and by which command.

Not here: what is measured.
"""

import os
import platform
import re
import sqlite3
import time
from importlib.metadata import version
from pathlib import Path

from bench.figure import Figure

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by the bench itself: `make bench` for all, `python -m bench NAME` for one. Every figure stands beside its
alternative, measured in the same run; ratios travel between machines, digits do not. Targets are those of the
project; what fell short says so.
"""


def write(figure: Figure, seconds: float) -> None:
    text = PAGE.read_text() if PAGE.exists() else HEAD
    section = _section(figure, seconds)
    marker = re.compile(rf"<!-- {figure.name} -->.*?<!-- /{figure.name} -->\n", re.DOTALL)
    if marker.search(text):
        text = marker.sub(lambda _: section, text)
    else:
        text = text.rstrip("\n") + "\n\n" + section
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text)


def _section(figure: Figure, seconds: float) -> str:
    notes = "".join(f"- {note}\n" for note in figure.notes)
    return (
        f"<!-- {figure.name} -->\n## {figure.title}\n\n"
        + "\n".join(figure.lines())
        + "\n\n"
        + notes
        + f"- `python -m bench {figure.name}`, {seconds:.0f} s; {machine()}\n<!-- /{figure.name} -->\n"
    )


def machine() -> str:
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("uvicorn", "msgspec"))
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
