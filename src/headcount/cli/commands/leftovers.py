"""`headcount leftovers`: what ended sessions left behind, and on which evidence.

Rules
  1. It lists, and ends nothing. --json is the wire's own document.
  2. What a row says is cleaned here; evidence that repeats the row above is `same`.

Not here: finding them (the daemon), ending them (reap.py).
"""

import time
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.options import KINDS
from headcount.client.daemon_access import quoted
from headcount.present.leftovers import table
from headcount.present.screen import standard
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Leftovers


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("only", nargs="?", metavar="S", help="only of that session")
    parser.add_argument("--kind", choices=KINDS, help="only of that kind")
    parser.add_argument("--all", action="store_true", help="also those that are gone")


def run(args: "VerbArguments") -> int:
    words = [f"session={quoted(args.only)}"] if args.only else []
    words += [f"kind={args.kind}"] if args.kind else []
    words += ["all=1"] if args.all else []
    answer: Leftovers = output.client().get("/v1/leftovers" + (f"?{'&'.join(words)}" if words else ""))
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines(table(answer.get("leftovers") or [], time.time(), standard()))
    return exit_codes.DONE
