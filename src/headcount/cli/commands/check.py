"""`headcount check ITEM FENCE`: for whoever guards a resource, whether a claim is still the current one.

Rules
  1. Exit 0: current. 3: stale, or never given. Nothing is printed that a script must parse.

Not here: the number's meaning (docs/claims.md).
"""

import sys
from typing import TYPE_CHECKING

from headcount.clean_text import said_item
from headcount.cli import output
from headcount.cli.options import fence
from headcount.client import claims
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.client.daemon_access import DaemonAccess
    from headcount.wire.views import CheckAnswer

NOTE = "Exit codes: 0 current, 2 not an item or no number, 3 stale, 4 daemon unavailable."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("item", metavar="ITEM", help="the item, as kind:value")
    parser.add_argument("fence", metavar="FENCE", type=fence, help="the claim's number")


def run(args: "VerbArguments") -> int:
    assert args.fence is not None  # check requires it
    client = output.client()
    answer: CheckAnswer = claims.ask(client, claims.check(args.item, args.fence))
    current = answer.get("current") is True
    if args.json:
        output.print_document(answer)
    elif current:
        print(f"{said_item(answer.get('item') or args.item)}: #{args.fence} is the current claim.")
    else:
        print(_stale(client, args, answer), file=sys.stderr)
    return exit_codes.DONE if current else exit_codes.REFUSED


def _stale(client: "DaemonAccess", args: "VerbArguments", answer: "CheckAnswer") -> str:
    from headcount.cli.actions.confirm_and_request import row_of
    from headcount.present.holders import name_of

    item = said_item(answer.get("item") or args.item)
    holder = answer.get("holder")
    now = (
        "nobody holds it"
        if not isinstance(holder, dict)
        else f"held by {name_of(holder, row_of(client, holder))}"
    )
    return f"{item}: #{args.fence} is stale; now {now}."
