"""`headcount check ITEM FENCE`: for whoever guards a resource, whether a claim is still the current one.

Rules of this file
  1. Exit 0: current. 3: stale, or never given. Nothing is printed that a script must parse.

Not here: the number's meaning (docs/claims.md).
"""

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.client import claims
from headcount.present.clean_text import clean, said_item
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.client.daemon_access import Client
    from headcount.wire.answer_views import CheckAnswer

DIGITS_MOST = 15
NOTE = "Exit codes: 0 current, 2 not an item or no number, 3 stale, 4 daemon unavailable."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("item", metavar="ITEM", help="the item, as kind:value")
    parser.add_argument("fence", metavar="FENCE", type=fence, help="the claim's number")


def fence(text: str) -> int:
    from argparse import ArgumentTypeError

    number = _number(text)
    if number is None:
        raise ArgumentTypeError(f'"{clean(text)}" is no number of a claim')
    return number


def parse_plain(words: list[str]) -> SimpleNamespace | None:
    plain = [word for word in words if word != "--json"]
    if len(plain) != 2 or plain[0].startswith("-") or (number := _number(plain[1])) is None:
        return None
    return SimpleNamespace(item=plain[0], fence=number, json="--json" in words)


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


def _stale(client: "Client", args: "VerbArguments", answer: "CheckAnswer") -> str:
    from headcount.cli.actions.shared_requests import row_of
    from headcount.present.holders import name_of

    item = said_item(answer.get("item") or args.item)
    holder = answer.get("holder")
    now = (
        "nobody holds it"
        if not isinstance(holder, dict)
        else f"held by {name_of(holder, row_of(client, holder))}"
    )
    return f"{item}: #{args.fence} is stale; now {now}."


def _number(text: str) -> int | None:
    text = text.removeprefix("#")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS_MOST else None
