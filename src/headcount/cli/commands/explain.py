"""`headcount explain S`: what is believed, on which evidence, from which source, how old, and which lost.

Rules
  1. Evidence that lost is shown below what stands, with the reason.
  2. A report for others (`--bundle`) is redacted before anything of it is written.

Not here: the judging (the daemon's; this only lays it out), the report (cli/doctor/bundle.py).
"""

import time
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.daemon_access import quoted
from headcount.client.faults import WrongCall
from headcount.present.explanation import lines_of
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.client.daemon_access import DaemonAccess
    from headcount.wire.views import Explanation


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "--bundle",
        metavar="FILE",
        nargs="?",
        const=True,
        help="write a redacted report of a wrong row, to be sent to others; - prints it",
    )
    parser.add_argument(
        "--paths", action="store_true", help="with --bundle: whole paths, not their last part"
    )


def run(args: "VerbArguments") -> int:
    if args.bundle == "":
        raise WrongCall("headcount: no file was named; without a name --bundle makes one up.")
    if args.paths and args.bundle is None:
        raise WrongCall("headcount: --paths is of a report: explain S --bundle --paths")
    client = output.client()
    explanation: Explanation = client.get(f"/v1/sessions/{quoted(args.session)}/explain")
    if args.bundle is not None:
        return _bundle(client, explanation, args)
    if args.json:
        output.print_document(explanation)
    else:
        output.print_lines(lines_of(explanation, time.time()))
    return exit_codes.DONE


def _bundle(client: "DaemonAccess", explanation: "Explanation", args: "VerbArguments") -> int:
    import json

    from headcount.cli.doctor import bundle

    report = bundle.collect(client, explanation, paths=args.paths)
    text = json.dumps(report, indent=2) + "\n"
    if args.bundle == "-":
        print(text, end="")
        return exit_codes.DONE
    path = bundle.write(
        text, None if args.bundle is True else args.bundle, clean(explanation["session"].get("id"))
    )
    if args.json:
        output.print_document({"path": path})
    else:
        output.print_lines([f"{clean(path)}   {report['redacted']}.", "Read it before you send it."])
    return exit_codes.DONE
