"""`headcount stop S`: ask a session's process to end, wait for it, and tell whether it did.

Not here: what is verified before a signal (the daemon).
"""

from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.actions import confirm_and_request
from headcount.client.daemon_access import quoted
from headcount.present import event_lines

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import StopAnswer

NOTE = (
    "SIGTERM to the agent's own process and to nothing else. Its claims fall when it is dead, not before.\n"
    "A process that other living sessions are in, or run below, is ended only with --all.\n"
    "On a terminal you are asked if it works or holds something; --yes skips that.\n"
    "Inside an agent: only sessions that it launched or that run below it.\n"
    "Exit codes: 0 ended, 1 it survived, 2 usage, 3 refused, 4 daemon unavailable, 5 not found or ended before."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "--all", action="store_true", help="also if other living sessions are in its process, or run below it"
    )
    confirm_and_request.add_kill_after(parser)
    confirm_and_request.add_yes(parser)


def run(args: "VerbArguments") -> int:
    client = output.client()
    session = confirm_and_request.agreed(client, args.session, "stop", yes=args.yes, all=args.all)
    path = f"/v1/sessions/{quoted(session)}/stop"
    answer: StopAnswer = confirm_and_request.ask(
        client, path, {"kill_after": args.kill_after, "all": args.all}
    )
    results = answer.get("results") or []
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines([event_lines.sentence(result) for result in results])
    return confirm_and_request.code_of(results)
