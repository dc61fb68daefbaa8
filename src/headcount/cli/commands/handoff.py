"""`headcount handoff ITEM S`: give a claim to another live session, with a new number.

Not here: who may (the daemon decides).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, said, said_item
from headcount.cli import output
from headcount.cli.options import fence
from headcount.client import claims
from headcount.present.holders import with_pid
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import ClaimAnswer

NOTE = (
    "The item is never free in between. The old number is stale from then on.\n"
    "Exit codes: 0 handed over, 2 not an item, 3 not yours or not a live session, 4 daemon unavailable, 5 not found."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("item", metavar="ITEM", help="the item, as kind:value")
    parser.add_argument("to", metavar="S", help="who gets it: an id, the beginning of one, or a name")
    parser.add_argument("--fence", type=fence, metavar="N", help="only if the claim still has this number")
    parser.add_argument("--as", dest="acting_as", metavar="S", help="for that live session (people only)")


def run(args: "VerbArguments") -> int:
    question = claims.hand_off(args.item, args.to, fence=args.fence, acting_as=args.acting_as)
    answer: ClaimAnswer = claims.ask(output.client(), question)
    if args.json:
        output.print_document(answer)
        return exit_codes.DONE
    holder = answer.get("holder")
    to = with_pid(holder) if isinstance(holder, dict) else said(args.to)
    item = said_item(answer.get("item") or args.item)
    print(f"{item} is now with {to}: claim #{clean(answer.get('fence'))}.")
    return exit_codes.DONE
