"""`headcount leftovers`: what ended sessions left behind, and on which evidence.

Rules of this file
  1. It lists, and ends nothing. --json is the wire's own document.
  2. What a row says is cleaned here; evidence that repeats the row above is `same`.

Not here: finding them (the daemon), ending them (reap.py).
"""

import time
from typing import TYPE_CHECKING, Any

from headcount.cli import moments, printing
from headcount.cli.sanitize import clean, cut, pad, width
from headcount.cli.screen import Screen, standard
from headcount.client.reach import quoted
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

TITLES = ("FROM", "KIND", "WHAT", "AGE", "MEM", "EVIDENCE")
GAP = "  "
SHORT = 4
KINDS = ("process", "second-writer", "pane", "worktree", "record")
MEGABYTE, GIGABYTE = 1024.0**2, 1024.0**3


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", nargs="?", metavar="S", help="only of that session")
    parser.add_argument("--kind", choices=KINDS, help="only of that kind")
    parser.add_argument("--all", action="store_true", help="also those that are gone")


def run(args: Any) -> int:
    words = [f"session={quoted(args.session)}"] if args.session else []
    words += [f"kind={args.kind}"] if args.kind else []
    words += ["all=1"] if args.all else []
    answer = printing.client().get("/v1/leftovers" + (f"?{'&'.join(words)}" if words else ""))
    if args.json:
        printing.print_document(answer)
    else:
        printing.print_lines(table(answer.get("leftovers") or [], time.time(), standard()))
    return codes.DONE


def table(leftovers: list[dict[str, Any]], now: float, screen: Screen) -> list[str]:
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


def _rows(leftovers: list[dict[str, Any]], now: float) -> list[tuple[str, ...]]:
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


def what_of(leftover: dict[str, Any]) -> str:
    """`41377 node vite :5173 cpu 3m`."""
    ports = [f":{clean(port)}" for port in leftover.get("ports") or ()]
    words = [clean(leftover.get("pid")), clean(leftover.get("what")), *ports, _cpu(leftover.get("cpu_s"))]
    return " ".join(word for word in words if word)


def _cpu(seconds: Any) -> str:
    return f"cpu {moments.span(seconds)}" if isinstance(seconds, int | float) and seconds >= 1 else ""


def memory(bytes: Any) -> str:
    if not isinstance(bytes, int | float):
        return "-"
    if bytes >= GIGABYTE:
        return f"{bytes / GIGABYTE:.1f} GB"
    return f"{max(1, round(bytes / MEGABYTE))} MB" if bytes else "0 MB"


def _age(leftover: dict[str, Any], now: float) -> str:
    age = leftover.get("age_s")
    if isinstance(age, int | float):
        return moments.span(age)
    found = moments.parse(leftover.get("found_at"))
    return "-" if found is None else moments.span(now - found)


def _gone(leftover: dict[str, Any]) -> str:
    at = moments.parse(leftover.get("gone_at"))
    return "" if at is None else f"gone {moments.clock(at, at)}"
