"""`headcount watch`: what happens, as it happens.

Rules of this file
  1. --json is one event a line as the wire has it, all types, beginning with a `snapshot` unless
     --since asks for what came after a number.

Not here: resuming (following.py), words (story.py).
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headcount.cli import moments, printing
from headcount.cli.rows import rows_of
from headcount.cli.sanitize import clean
from headcount.cli.screen import Screen, standard
from headcount.cli.story import is_told, lines_of
from headcount.cli.table import summary
from headcount.client.following import follow
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--since", type=_sequence, metavar="SEQ", help="begin with what came after this event number"
    )

    parser.add_argument("--host", metavar="H,…", help="these hosts too, over ssh")


def _sequence(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f'"{text}" is no event number; log --json and watch --json have them as seq')
    return int(text)


def run(args: Any) -> int:
    screen = standard()
    for event in _followed(args):
        if args.json:
            printing.print_line(_dated(event))
        else:
            for line in told(event, screen):
                print(line, flush=True)
    return codes.DONE


def _followed(args: Any) -> Iterator[dict[str, Any]]:
    if not args.host:
        return follow(printing.client(), args.since)
    from headcount.cli.remote import parse_hosts
    from headcount.cli.remote_watch import follow_hosts

    return follow_hosts(parse_hosts(args.host))


def told(event: dict[str, Any], screen: Screen) -> list[str]:
    now = time.time()
    if event["type"] == "snapshot":
        lines = [f"{moments.clock(now, now)}   {summary(rows_of(event.get('sessions') or [], now))}"]
    else:
        lines = lines_of(event, screen, now) if is_told(event) else []
    host = clean(event.get("host"))
    return [f"{host}: {line}" for line in lines] if host else lines


def _dated(event: dict[str, Any]) -> dict[str, Any]:
    """A snapshot has no time of its own; every line of the stream has one."""
    return event if "at" in event else {**event, "at": moments.stamp(time.time())}
