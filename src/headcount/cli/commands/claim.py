"""`headcount claim ITEM`: the exclusive right to an item, for as long as the caller's process lives.

Rules
  1. A claim may cost no more than `ps`: this file imports little.
  2. Exit 0: it is yours. 3: another holds it, and the words name waiting, never releasing.

Not here: who gets what (the daemon), the words for a holder (present/holders.py).
"""

import _signal  # type: ignore[import-not-found]  # without the enums of `import signal`
import os
import sys
from typing import TYPE_CHECKING

from headcount.clean_text import clean, said_item
from headcount.cli import output
from headcount.cli.options import seconds_to_wait
from headcount.client import claims
from headcount.client.faults import ClientFault
from headcount.client.transport import connection
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import ClaimAnswer

NOTE = (
    "ITEM is kind:value: task:AUTH-12, branch:api#main, port:5432, path:/src/api/auth.py, path:/src/api/**\n"
    "A claim is free again when it is released or when its holder's process ends. It has no time limit.\n"
    "--wait is served in the order of asking; a restart of the daemon forgets that order, and no claim.\n"
    "Exit codes: 0 it is yours, 2 not an item, 3 held by another or not allowed, 4 daemon unavailable."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("item", metavar="ITEM", help="what to claim, as kind:value")
    parser.add_argument("--wait", metavar="TIME", help="wait that long in line: 90, 5m, 2h")
    parser.add_argument("--note", metavar="TEXT", help="what for; others see it")
    parser.add_argument("--as", dest="acting_as", metavar="S", help="for that live session (people only)")
    parser.add_argument(
        "--until-empty",
        action="store_true",
        help="not while processes of a dead holder still run",
    )


def run(args: "VerbArguments") -> int:
    wait = seconds_to_wait(args.wait, "claim")
    question = claims.acquire(
        args.item, wait=wait, note=args.note, acting_as=args.acting_as, until_empty=args.until_empty
    )
    try:
        code = _ask(args, question, wait)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # it was printed: from here on Ctrl-C changes nothing
        return code
    except (KeyboardInterrupt, ClientFault) as fault:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # a second one does not stop the withdrawal
        claims.give_up(os.environ, question, fault)
        raise


def _ask(args: "VerbArguments", question: connection.Question, wait: float) -> int:
    client = output.client()
    answer: ClaimAnswer = claims.ask(client, question)
    code = exit_codes.DONE if answer.get("granted") else exit_codes.REFUSED
    if args.json:
        output.print_document(answer)
    elif code == exit_codes.DONE:
        output.print_lines(granted_lines(answer, for_another=args.acting_as is not None))
    else:
        from headcount.cli.actions.confirm_and_request import held_lines

        item = str(answer.get("item") or args.item)
        whom = ("--as", args.acting_as) if args.acting_as else ()
        unit = " s" if args.wait and args.wait[-1:].isdigit() else ""
        waited = [f"Waited {clean(args.wait)}{unit}, in vain."] if wait else []
        lines = held_lines(client, item, answer, "claim", *whom)
        print("\n".join([*waited, *lines]), file=sys.stderr)
    return code


def granted_lines(answer: "ClaimAnswer", *, for_another: bool = False) -> list[str]:
    item, fence = said_item(answer.get("item")), clean(answer.get("fence"))
    under = clean(answer.get("under"))
    if under:
        return [f"{item} is held by the agent above you ({under[:4]}), claim #{fence}: work under it."]
    whose, end = "yours", "when you release it, or with your process"
    if for_another:
        from headcount.present.holders import with_pid

        whose, end = f"now with {with_pid(answer.get('holder'))}", "when it is released, or with that process"
    lines = [f"{item} is {whose}: claim #{fence}. It ends {end}."]
    running = [clean(pid) for pid in answer.get("still_running") or ()]
    if running:
        lines.append(f"Of its last holder these still run and may write: {', '.join(running)}.")
    return [*lines, *_of_a_directory(str(answer.get("held_item") or answer.get("item")))]


def _of_a_directory(item: str) -> list[str]:
    """Whoever claims a directory by its name alone keeps nobody off what is in it, and mostly meant to."""
    place = item.removeprefix("path:")
    if place == item or place.endswith("/**") or not os.path.isdir(place):  # noqa: PTH112 (a claim imports little)
        return []
    from headcount.clean_text import command

    below = command("headcount", "claim", f"{item.rstrip('/')}/**")
    return [f"It protects this very path; for all below it: {below}"]
