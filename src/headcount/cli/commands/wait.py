"""`headcount wait S --until STATE`: for scripts that go on when an agent is ready.

Rules
  1. The states are the words of `ps`, and `alive` and `ended`. Any of them is enough.
  2. Waiting is on the event stream, not by asking again and again.
  3. Exit 0: reached. 1: the time was up. 5: the session ended and that was not what was waited for.

Not here: the stream (client/event_stream.py).
"""

import sys
import time
from typing import TYPE_CHECKING

from headcount.clean_text import clean, said
from headcount.cli import output
from headcount.cli.options import STATES, seconds
from headcount.client.daemon_access import DaemonAccess, quoted
from headcount.client.event_stream import follow
from headcount.client.faults import TimedOut
from headcount.present import session_words, time_text
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import SessionRow, StreamEvent

NOTE = (
    f"STATE is one of {', '.join(STATES)}; several with commas.\n"
    "Exit codes: 0 reached, 1 the time was up, 5 the session is not known or ended before."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "--until", required=True, type=states, metavar="STATE[,STATE]", help="what to wait for"
    )
    parser.add_argument("--timeout", type=seconds, metavar="TIME", help="at most this long: 90, 5m, 2h")


def states(text: str) -> frozenset[str]:
    from argparse import ArgumentTypeError

    wanted = frozenset(word.strip() for word in text.split(",") if word.strip())
    strange = sorted(wanted - set(STATES))
    if strange or not wanted:
        raise ArgumentTypeError(
            f'no state "{clean(strange[0] if strange else text)}"; there are {", ".join(STATES)}'
        )
    return wanted


def run(args: "VerbArguments") -> int:
    client = output.client()
    until = None if args.timeout is None else time.monotonic() + args.timeout
    raw: SessionRow = client.get(f"/v1/sessions/{quoted(args.session)}")
    try:
        raw = _awaited(client, raw, args.until, until)
    except TimedOut:
        return _report(args, client.get(f"/v1/sessions/{quoted(raw['id'])}"), exit_codes.FAULT)
    reached = is_reached(raw, args.until)
    return _report(args, raw, exit_codes.DONE if reached else exit_codes.NOT_FOUND)


def is_reached(raw: "SessionRow", wanted: frozenset[str]) -> bool:
    if raw.get("liveness") == "ended":
        return "ended" in wanted
    words = {raw.get("activity"), raw.get("waiting_on"), raw.get("failure"), raw.get("liveness")} - {
        None,
        "lost",
    }
    if raw.get("activity") != "unknown":
        words.discard("unknown")  # that word of liveness is not the activity's
    return bool(words & wanted)


def _awaited(
    client: DaemonAccess, raw: "SessionRow", wanted: frozenset[str], until: float | None
) -> "SessionRow":
    """The session when it is there, or has ended."""
    if is_over(raw, wanted):
        return raw
    for event in follow(client, None, until):
        for row in _rows(event):
            if row.get("id") == raw["id"] and is_over(row, wanted):
                return row
        if event["type"] == "snapshot" and all(row.get("id") != raw["id"] for row in event["sessions"]):
            now: SessionRow = client.get(f"/v1/sessions/{quoted(raw['id'])}")  # it ended before we listened
            if is_over(now, wanted):
                return now
    raise AssertionError("a stream only ends by a fault")


def is_over(raw: "SessionRow", wanted: frozenset[str]) -> bool:
    return raw.get("liveness") == "ended" or is_reached(raw, wanted)


def _rows(event: "StreamEvent") -> "list[SessionRow]":
    if event["type"] == "snapshot":
        return list(event["sessions"])
    session = event.get("session")
    return [session] if isinstance(session, dict) else []


def _report(args: "VerbArguments", raw: "SessionRow", code: int) -> int:
    if args.json:
        output.print_document({"reached": code == exit_codes.DONE, "session": raw})
        return code
    who = said(raw.get("name")) or clean(raw.get("id"))[: session_words.SHORTEST_ID]
    state = session_words.state_of(raw, time.time())
    if code == exit_codes.DONE:
        print(f"{who} is {state}." if raw.get("liveness") != "ended" else f"{who}: {state}.")
    elif code == exit_codes.NOT_FOUND:
        print(f"{who} ended before it was {' or '.join(sorted(args.until))}: {state}.", file=sys.stderr)
        print(f"See: headcount show {clean(raw.get('id'))[: session_words.SHORTEST_ID]}", file=sys.stderr)
    else:
        wanted = " or ".join(sorted(args.until))
        print(
            f"{who} is still {state} after {time_text.exact_span(args.timeout or 0.0)}, not {wanted}.",
            file=sys.stderr,
        )
    return code
