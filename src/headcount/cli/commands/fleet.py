"""`headcount fleet join|leave|status`: sharing claims with other hosts through one PostgreSQL.

Rules
  1. For people: an agent does not decide with whom its host shares work.
  2. An address goes to the daemon and is never printed. `-` reads it from stdin, where no list of processes shows it.

Not here: what joining does (the daemon), other hosts over ssh (actions/remote_hosts.py).
"""

import sys
from typing import TYPE_CHECKING

from headcount.clean_text import clean, pad, width
from headcount.cli import output
from headcount.client.faults import WrongCall
from headcount.present import time_text
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import FleetHost, FleetLeft, FleetStatus

NOTE = (
    "join ADDRESS   postgresql://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full, or - to read it from stdin.\n"
    "               The password is kept in a private file of its own.\n"
    "leave          frees what this host holds of the fleet's claims, and shares no longer.\n"
    "status         the hosts, each with its age; unknown: its lease ran out, so nothing is known of it now.\n"
    "Shared are claims of every kind but path:, port: and local:.\n"
    "Exit codes: 0 done, 2 usage, 3 refused, 4 the database cannot be reached."
)
TITLES = ("HOST", "STATE", "SEEN", "SESSIONS", "CLAIMS", "VERSION")
GAP = "  "
MAY_BE_MIXED = True  # fleet join --name ws ADDRESS
OF = {"address": ("an address", "join"), "name": ("--name", "join"), "anyway": ("--anyway", "leave")}


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("what", choices=["join", "leave", "status"], help="what to do")
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help="of join: the database, or - for stdin")
    parser.add_argument("--name", metavar="N", help="of join: what this host is called there (its hostname)")
    parser.add_argument(
        "--anyway", action="store_true", help="of leave: although the database cannot be told now"
    )


def run(args: "VerbArguments") -> int:
    for name, (word, verb) in OF.items():
        if getattr(args, name) and args.what != verb:
            raise WrongCall(f"headcount: {word} is of fleet {verb}. See: headcount fleet --help")
    if args.name == "":
        raise WrongCall("headcount: a host has a name; without --name it is its hostname.")
    return {"join": _join, "leave": _leave, "status": _status}[args.what](args)


def _join(args: "VerbArguments") -> int:
    address = sys.stdin.readline().strip() if args.address == "-" else args.address
    if not address:
        raise WrongCall("headcount: join needs an address. See: headcount fleet --help")
    body = {"address": address} | ({"name": args.name} if args.name else {})
    answer: FleetStatus = output.client().post("/v1/fleet/join", body)
    if args.json:
        output.print_document(answer)
    else:
        others = len(answer.get("hosts") or ()) - 1
        print(f"Joined as {clean(answer.get('name'))}; {others} other host{'' if others == 1 else 's'}.")
    return exit_codes.DONE


def _leave(args: "VerbArguments") -> int:
    answer: FleetLeft = output.client().post("/v1/fleet/leave", {"anyway": args.anyway})
    if args.json:
        output.print_document(answer)
    else:
        freed = answer.get("freed") or 0
        print(f"Left. {freed} claim{'' if freed == 1 else 's'} of this host freed.")
        if closed := answer.get("closed") or 0:
            print(
                f"{closed} could not be told of: the others get {'it' if closed == 1 else 'them'} when this host's "
                "lease there and the lock-delay are over, in under a minute."
            )
    return exit_codes.DONE


def _status(args: "VerbArguments") -> int:
    answer: FleetStatus = output.client().get("/v1/fleet")
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines(lines_of(answer))
    is_well = answer.get("vouched") and not answer.get("fault")
    return exit_codes.UNAVAILABLE if answer.get("joined") and not is_well else exit_codes.DONE


def lines_of(answer: "FleetStatus") -> list[str]:
    if not answer.get("joined"):
        return [
            "This host has joined no fleet. Join one: headcount fleet join postgresql://USER@HOST/DATABASE"
        ]
    lines = [f"{clean(answer.get('name'))} in the fleet at {clean(answer.get('database'))}"]
    if answer.get("vouched") and answer.get("fault"):
        lines.append(
            f"! {clean(answer.get('fault'))}. What is held is still vouched for, until the lease ends."
        )
    elif not answer.get("vouched"):
        lines.append(f"! shared claims cannot be vouched for: {clean(answer.get('fault'))}")
    hosts = answer.get("hosts") or []
    return [*lines, *_table(hosts)] if hosts else lines


def _table(hosts: "list[FleetHost]") -> list[str]:
    rows = [TITLES, *(_row(host) for host in hosts)]
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        GAP.join(pad(cell, cells) for cell, cells in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(host: "FleetHost") -> tuple[str, ...]:
    name = clean(host.get("name")) + (" (here)" if host.get("here") else "")
    age = float(host.get("age_s") or 0)
    return (
        name,
        clean(host.get("state")),
        f"{time_text.span(age)} ago",
        clean(host.get("sessions")),
        clean(host.get("claims")),
        clean(host.get("version")),
    )
