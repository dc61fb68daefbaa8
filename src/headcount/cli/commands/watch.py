"""`headcount watch`: what happens, as it happens.

Rules
  1. --json is one event a line as the wire has it, all types, beginning with a `snapshot` unless
     --since asks for what came after a number.
  2. It goes on when the daemon is back; that it was away is said on stderr. --once ends with it.
  3. A death is told at once; what it freed and left is the line under it, when that was looked for.

Not here: resuming (client/event_stream.py), words (present/event_lines.py).
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.reboot_notice import tell_once
from headcount.client.event_stream import follow
from headcount.present import time_text
from headcount.present.event_lines import DeathLines, is_told, lines_of, text_of
from headcount.present.screen import Screen, standard
from headcount.present.session_words import rows_of
from headcount.present.table import summary
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import StreamEvent

NOTE = "Ends by Ctrl-C. Exit codes: 4 the daemon cannot be started, or with --once: it has stopped."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--since",
        dest="after",
        type=_sequence,
        metavar="SEQ",
        help="begin with what came after this event number",
    )
    parser.add_argument("--once", action="store_true", help="end when the daemon stops, with exit code 4")

    parser.add_argument("--host", metavar="H,…", help="these hosts too, over ssh")


def _sequence(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f'"{text}" is no event number; log --json and watch --json have them as seq')
    return int(text)


def run(args: "VerbArguments") -> int:
    output.stream()
    screen, deaths = standard(), DeathLines()
    for event in _followed(args):
        if args.json:
            output.print_line(_dated(event))
        else:
            for line in told(event, screen, deaths):
                print(line, flush=True)
    return exit_codes.DONE


def _followed(args: "VerbArguments") -> "Iterator[StreamEvent]":
    if args.host is None:
        client = output.client()
        if not args.json:
            tell_once(client)
        return follow(client, args.after, stay=None if args.once else output.note)
    from headcount.cli.actions.remote_hosts import follow_hosts, parse_hosts

    return follow_hosts(parse_hosts(args.host))


def told(event: "StreamEvent", screen: Screen, deaths: DeathLines) -> list[str]:
    host = clean(event.get("host"))
    lines = _lines(event, screen, deaths)
    return [f"{host}: {line}" for line in lines] if host else lines


def _lines(event: "StreamEvent", screen: Screen, deaths: DeathLines) -> list[str]:
    now = time.time()
    if deaths.takes(event) or not is_told(event):
        return []
    if event["type"] == "snapshot":
        return [f"{time_text.clock(now, now)}   {summary(rows_of(event.get('sessions') or [], now))}"]
    lines = [under(event, now)] if deaths.follows(event) else lines_of(event, screen, now)
    deaths.is_over(event)
    lines = [line for line in lines if line]
    if lines:
        deaths.told(event)
    return lines


def under(event: "StreamEvent", now: float) -> str:
    """The second line of a death, under its first."""
    at = time_text.parse(event.get("at"))
    text = text_of(event)
    return f"{' ' * len(time_text.clock(now if at is None else at, now))} {text}" if text else ""


def _dated(event: "StreamEvent") -> "StreamEvent":
    """A snapshot has no time of its own; every line of the stream has one."""
    return event if "at" in event else {**event, "at": time_text.stamp(time.time())}
