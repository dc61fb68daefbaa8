"""`headcount log`: what happened before, from the journal.

Rules
  1. The newest N in the order in which they happened. --json is one event a line, all types.

Not here: the words of an event (present/event_lines.py), the journal (store/).
"""

import time
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.daemon_access import quoted
from headcount.client.event_stream import follow
from headcount.present import time_text
from headcount.present.event_lines import is_told, lines_of
from headcount.present.screen import standard
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import EventRow, History

NEWEST = 50
QUIET_SHARE = 4  # events that people are not shown lie between those that they are; ask for more, show N


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("only", metavar="S", nargs="?", help="only this session")
    parser.add_argument("-n", type=count, default=NEWEST, metavar="N", help=f"how many (default {NEWEST})")
    parser.add_argument("--since", type=moment, metavar="TIME", help="only the last 90s, 5m, 2h, 3d")
    parser.add_argument("--type", metavar="T", help="only this type, such as session.ended")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what happens now")


def count(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise ArgumentTypeError(f'"{clean(text)}" is no number of events')
    return int(text)


def moment(text: str) -> float:
    from argparse import ArgumentTypeError

    span = time_text.parse_span(text)
    if span is None:
        raise ArgumentTypeError(f'"{clean(text)}" is no time; write 90s, 5m, 2h or 3d')
    return time.time() - span


def run(args: "VerbArguments") -> int:
    client = output.client()
    session = str(client.get(f"/v1/sessions/{quoted(args.only)}")["id"]) if args.only else None
    found: History = client.get(question(args, session))
    events = found["events"]
    last = max((event["seq"] for event in events), default=None)
    for event in [event for event in events if is_shown(event, args)][-args.n :]:
        tell(event, args)
    if args.follow:
        output.stream()
        for event in follow(client, last, stay=output.note):
            if event["type"] != "snapshot" and is_wanted(event, args, session) and is_shown(event, args):
                tell(event, args)
    return exit_codes.DONE


def question(args: "VerbArguments", session: str | None) -> str:
    wanted = {
        "newest": "1",
        "limit": str(args.n if args.json or args.type else args.n * QUIET_SHARE),
        "session": session,
        "type": args.type,
        "since": None if args.since is None else str(int(args.since)),
    }
    return "/v1/history?" + "&".join(f"{name}={quoted(value)}" for name, value in wanted.items() if value)


def is_wanted(event: "EventRow", args: "VerbArguments", session: str | None) -> bool:
    of = (event.get("session") or {}).get("id")
    return (session is None or of == session) and (args.type is None or event.get("type") == args.type)


def is_shown(event: "EventRow", args: "VerbArguments") -> bool:
    return bool(args.json) or args.type is not None or is_told(event)


def tell(event: "EventRow", args: "VerbArguments") -> None:
    if args.json:
        output.print_line(event)
    else:
        for line in lines_of(event, standard(), time.time()):
            print(line, flush=args.follow)
