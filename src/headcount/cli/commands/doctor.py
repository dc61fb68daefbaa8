"""`headcount doctor`: what is wrong here, and the next step for each.

Rules
  1. Starts nothing and changes nothing. Exit 0: nothing to do; 1: there are findings.

Not here: the daemon and its files (doctor/facts.py, doctor/findings.py), what is around it (doctor/environment_checks.py).
"""

import os
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.doctor.environment_checks import surroundings
from headcount.cli.doctor.facts import examine
from headcount.cli.doctor.findings import Finding, findings_of
from headcount.present.screen import Screen, standard
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments

MARKS = {"ok": ("✓", "+", "good"), "note": ("·", "-", "idle"), "finding": ("!", "!", "alarm")}

NOTE = "Exit codes: 0 nothing to do, 1 there are findings."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    del parser  # nothing but --json


def run(args: "VerbArguments") -> int:
    facts = examine(os.environ)
    checks = [*findings_of(facts), *surroundings(os.environ, facts.status)]
    found = [check for check in checks if check.level == "finding"]
    if args.json:
        output.print_document({"findings": _plain(found), "checks": _plain(checks)})
    else:
        output.print_lines(lines_of(checks, standard()))
    return exit_codes.FAULT if found else exit_codes.DONE


def lines_of(checks: list[Finding], screen: Screen) -> list[str]:
    lines = []
    for check in checks:
        fine, plain, colour = MARKS[check.level]
        mark = screen.paint(fine if screen.unicode else plain, colour)
        lines.append(f"{mark} {check.check:<11}{clean(check.says)}")
        if check.next:
            lines.append(f"  {'':<11}next: {clean(check.next)}")
    count = sum(check.level == "finding" for check in checks)
    lines.append("Nothing to do." if not count else f"{count} finding{'s' if count > 1 else ''}.")
    return lines


def _plain(checks: list[Finding]) -> list[dict[str, object]]:
    return [check._asdict() for check in checks]
