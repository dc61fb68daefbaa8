"""Draw the table of leftovers: whose, what, how old, and on which evidence.

Not here: asking for them (cli/commands/leftovers.py), finding them (daemon/leftovers).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, cut, pad, width
from headcount.present import time_text
from headcount.present.screen import Screen

if TYPE_CHECKING:
    from headcount.wire.views import LeftoverRow

TITLES = ("FROM", "KIND", "WHAT", "AGE", "MEM", "EVIDENCE")


GAP = "  "


SHORT = 4


MEGABYTE, GIGABYTE = 1024.0**2, 1024.0**3


def table(leftovers: "list[LeftoverRow]", now: float, screen: Screen) -> list[str]:
    if not leftovers:
        return ["Nothing was left behind."]
    rows = [TITLES, *_rows(leftovers, now)]
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        GAP.join(pad(cell, cells) for cell, cells in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if screen.columns is not None:
        lines = [cut(line, screen.columns, screen.dots) for line in lines]
    held = sum(row.get("memory_bytes") or 0 for row in leftovers if not row.get("gone_at"))
    if any(row.get("kind") == "process" and not row.get("gone_at") for row in leftovers):
        lines.append(
            f"{memory(held)} held. To end processes: headcount reap --yes (without --yes it only shows them)"
        )
    return lines


def _rows(leftovers: "list[LeftoverRow]", now: float) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    before = None
    for each in leftovers:
        evidence = "; ".join(clean(line) for line in each.get("evidence") or ())
        whole = (each.get("session"), evidence)
        rows.append(
            (
                clean(each.get("session"))[:SHORT] or "-",
                clean(each.get("kind")),
                what_of(each),
                _age(each, now),
                memory(each.get("memory_bytes")),
                _gone(each) or ("same" if evidence and whole == before else evidence),
            )
        )
        before = whole
    return rows


def what_of(leftover: "LeftoverRow") -> str:
    """`41377 node vite :5173 cpu 3m`."""
    ports = [f":{clean(port)}" for port in leftover.get("ports") or ()]
    words = [clean(leftover.get("pid")), clean(leftover.get("what")), *ports, _cpu(leftover.get("cpu_s"))]
    return " ".join(word for word in words if word)


def _cpu(seconds: object) -> str:
    return f"cpu {time_text.span(seconds)}" if isinstance(seconds, int | float) and seconds >= 1 else ""


def memory(bytes: object) -> str:
    if not isinstance(bytes, int | float):
        return "-"
    if bytes >= GIGABYTE:
        return f"{bytes / GIGABYTE:.1f} GB"
    return f"{max(1, round(bytes / MEGABYTE))} MB" if bytes else "0 MB"


def _age(leftover: "LeftoverRow", now: float) -> str:
    age = leftover.get("age_s")
    if isinstance(age, int | float):
        return time_text.span(age)
    found = time_text.parse(leftover.get("found_at"))
    return "-" if found is None else time_text.span(now - found)


def _gone(leftover: "LeftoverRow") -> str:
    at = time_text.parse(leftover.get("gone_at"))
    return "" if at is None else f"gone {time_text.clock(at, at)}"
