"""`headcount release ITEM`: give a claim back.

Not here: who may (the daemon decides), asking for one (claim.py).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, said_item
from headcount.cli import output
from headcount.cli.options import fence
from headcount.client import claims
from headcount.client.daemon_access import DaemonAccess
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import CheckAnswer, Claims, ReleaseAnswer

NOTE = (
    "Only the holder releases its claim. --force is for people: it is written down, and the holder's number\n"
    "is stale from then on (check exits 3). On a terminal you are asked first; --yes skips that.\n"
    "Exit codes: 0 released, 2 not an item, 3 not yours, 4 daemon unavailable, 5 nobody holds it."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("item", metavar="ITEM", help="what to give back, as kind:value")
    parser.add_argument("--fence", type=fence, metavar="N", help="only if the claim still has this number")
    parser.add_argument("--force", action="store_true", help="another's claim (people only)")
    parser.add_argument("--yes", action="store_true", help="with --force: do not ask")
    parser.add_argument("--as", dest="acting_as", metavar="S", help="for that live session (people only)")


def run(args: "VerbArguments") -> int:
    client = output.client()
    shown = _agree(client, args.item) if args.force and not args.yes else None
    fence_of = shown if args.fence is None else args.fence
    answer: ReleaseAnswer = claims.ask(
        client,
        claims.release(args.item, fence=fence_of, force=args.force, acting_as=args.acting_as),
    )
    if args.json:
        output.print_document(answer)
        return exit_codes.DONE
    item = said_item(answer.get("item") or args.item)
    number = f" (claim #{clean(answer.get('fence'))})" if answer.get("fence") is not None else ""
    print(f"{item} {_became(answer)}{number}.{_elsewhere(answer)}")
    return exit_codes.DONE


def _agree(client: DaemonAccess, item: str) -> int | None:
    """A person at a terminal sees whose claim it is, and what else that session holds. Returns the number of the
    claim that was shown: no other is released."""
    from headcount.cli.actions import confirm_and_request
    from headcount.cli.actions.confirm_and_request import row_of
    from headcount.present.holders import with_pid

    if not confirm_and_request.is_asked():
        return None
    checked: CheckAnswer = claims.ask(client, claims.check(item, 0))
    here = checked.get("item")  # as the daemon follows its links
    held: Claims = claims.ask(client, claims.held())
    claim = next((each for each in held["claims"] if each.get("item") == here), None)
    if claim is None:
        return None
    row = row_of(client, claim.get("holder"))
    whom = confirm_and_request.told(row, taken=here) if row else with_pid(claim.get("holder"))
    confirm_and_request.agree(f"release --force: take {said_item(here)} from {whom}")
    return int(claim["fence"])


def _became(answer: "ReleaseAnswer") -> str:
    from headcount.present.holders import name_of, with_pid

    was, now = answer.get("holder"), answer.get("next")
    whose = f"was taken from {with_pid(was)}, and " if isinstance(was, dict) else ""
    if not isinstance(now, dict):
        return f"{whose}is free again"
    return f"{whose or 'was given back, and '}is now {name_of(now)}'s, who waited for it"


def _elsewhere(answer: "ReleaseAnswer") -> str:
    """Of a claim that was taken from another host: who may still believe in it."""
    host = clean(answer.get("host"))
    return f" It was held on {host}, which is told of it; until then its holder may go on." if host else ""
