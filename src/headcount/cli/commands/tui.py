"""`headcount tui`, and bare `headcount` on a terminal: the table, alive.

Rules
  1. Textual is imported only here and only when there is a terminal: no other verb pays for it.
  2. The daemon is met first, so that what is wrong with it is said in plain words and not on a screen of ours.
  3. The terminal UI stands above the command line and draws with its words, so it is started by name.

Not here: the screen (tui/).
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.options import quick
from headcount.client.faults import ClientFault
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    return None


def is_possible() -> bool:
    """Whether there is a terminal that can be drawn on, both ways."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def run(args: "VerbArguments") -> int:
    if args.json:
        ps = import_module("headcount.cli.commands.ps")
        return int(ps.run(quick("ps", ["--json"])))
    if not is_possible():
        raise NoTerminal("There is no terminal to draw on.", "See: headcount ps, or headcount watch")
    client = output.client()
    client.get("/healthz")
    client.close()
    from headcount.present.screen import standard

    import_module("headcount.tui.app").run(os.environ, unicode=standard().unicode)
    return exit_codes.DONE


class NoTerminal(ClientFault):
    exit_code = exit_codes.USAGE
