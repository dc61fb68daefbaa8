"""`headcount next`: go to the agent that has waited for you longest.

Rules
  1. Only those that wait for their user: at a permission, a question or a plan. Whoever is done or stopped is in `ps`.
  2. Exit codes are those of `jump`; 5 when nobody waits.

Not here: how one gets there (actions/jump_to_terminal.py).
"""

import time
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.commands import jump
from headcount.present import session_words
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Sessions

NOTE = "Exit codes: 0 it is on a screen now, 1 it is not (what to type is printed), 5 nobody waits for you."


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("--print", action="store_true", help="only say which one it is")


def run(args: "VerbArguments") -> int:
    client = output.client()
    found: Sessions = client.get("/v1/sessions")
    sessions = found["sessions"]
    waiting = [row for row in session_words.rows_of(sessions, time.time()) if row.group == "needs you"]
    if not waiting:
        if args.json:
            output.print_document({"session": None})
        else:
            print("Nobody waits for you.")
        return exit_codes.NOT_FOUND
    first = waiting[0]
    if args.print:
        if args.json:
            output.print_document({"session": next(raw for raw in sessions if raw["id"] == first.full_id)})
        else:
            print(f"{first.id}  {first.state} for {first.age}  {first.name}  {first.doing}")
        return exit_codes.DONE
    return jump.to(client, first.full_id, as_json=args.json)
