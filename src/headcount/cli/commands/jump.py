"""`headcount jump S`: go to a session's terminal.

Rules
  1. Exit 0: it is on a screen now. 1: it is not; what to type is printed. 5: it has ended, or there is none.
  2. Whoever was shown a session that is done has visited it: the daemon is told. That it cannot be told, or not by an
     agent, changes nothing of the going.

Not here: how one gets there (actions/jump_to_terminal.py).
"""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from headcount.clean_text import clean, command
from headcount.cli import output
from headcount.cli.actions import jump_to_terminal
from headcount.client.daemon_access import DaemonAccess, quoted
from headcount.client.faults import ClientFault, NotFound
from headcount.present import session_words
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import SessionRow, Whereabouts

NOTE = "Exit codes: 0 it is on a screen now, 1 it is not (what to type is printed), 5 it has ended or is not known."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")


def run(args: "VerbArguments") -> int:
    return to(output.client(), args.session, as_json=args.json)


def to(client: DaemonAccess, wanted: str, *, as_json: bool) -> int:
    place: Whereabouts = client.get(f"/v1/sessions/{quoted(wanted)}/where")
    raw = place["session"]
    if raw.get("liveness") == "ended":
        raise NotFound(410, "ended", *_ended(raw))
    went = jump_to_terminal.go(place, os.environ)
    if went.shown and raw.get("activity") == "done":
        _visited(client, raw)
    if as_json:
        output.print_document(
            {
                "session": raw,
                "shown": went.shown,
                "how": went.how,
                "command": went.command,
                "known": place.get("known"),
            }
        )
    else:
        _tell(went, raw, place)
    return exit_codes.DONE if went.shown else exit_codes.FAULT


def _visited(client: DaemonAccess, raw: "SessionRow") -> None:
    with suppress(ClientFault):
        client.post(f"/v1/sessions/{quoted(str(raw['id']))}/visited")


def _tell(went: jump_to_terminal.Went, raw: "SessionRow", place: "Whereabouts") -> None:
    print(f"{session_words.who(raw)}: {went.how}", file=sys.stdout if went.shown else sys.stderr)
    if not place.get("known"):
        print(
            f"Where it was last; it cannot be found out now: {clean(place.get('because'))}.", file=sys.stderr
        )
    if went.command:
        print(f"Run: {command(*went.command)}", file=sys.stderr)


def _ended(raw: "SessionRow") -> tuple[str, str]:
    id = clean(raw.get("id"))[: session_words.SHORTEST_ID]
    verb = "resume" if raw.get("resume") else "show"  # not every agent can go on
    return f"{id} has ended: {session_words.end_of(raw.get('ended') or {})}.", f"headcount {verb} {id}"
