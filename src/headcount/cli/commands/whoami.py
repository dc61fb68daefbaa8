"""`headcount whoami`: which session the caller is, and how that was established.

Rules
  1. The kernel's answer, not the environment's: this verb only asks the daemon.
  2. Exit 5 outside any agent: "nobody" is an answer that scripts can test. Exit 3 where what was offered does not
     hold, with and without --explain.

Not here: the rungs themselves (daemon/identity/caller.py).
"""

import sys
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client import claims
from headcount.client.faults import NotFound
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Me, Rung

NOTE = (
    "Exit codes: 0 inside an agent, 3 not clear who you are (a token or marks that do not hold), 4 daemon unavailable,\n"
    "5 no agent above this process."
)
SAYS = {"peer": "the kernel", "token": "the token", "environment": "the environment"}


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--explain", action="store_true", help="every way that was tried, and what came of it"
    )


def run(args: "VerbArguments") -> int:
    client = output.client()
    try:
        me: Me = claims.ask(client, claims.who_am_i(explain=args.explain))
    except NotFound as nobody:
        if args.json:
            output.print_document(
                {"session": None, "agent": None, "conversation": None, "pid": None, "resolved_by": None}
            )
        print(clean(nobody.message), file=sys.stderr)
        if nobody.hint:
            print(clean(nobody.hint), file=sys.stderr)
        return exit_codes.NOT_FOUND
    if args.json:
        output.print_document(me)
    else:
        output.print_lines(lines_of(me, explain=args.explain))
    if me.get("session"):
        return exit_codes.DONE
    return exit_codes.REFUSED if me.get("refusal") else exit_codes.NOT_FOUND


def lines_of(me: "Me", *, explain: bool) -> list[str]:
    session = clean(me.get("session"))
    pid = f", process {clean(me.get('pid'))}" if me.get("pid") else ""
    if session:
        agent = clean(me.get("agent"))
        lines = [f"You are {session[:4]} ({agent}{pid}), by {clean(me.get('resolved_by'))}."]
    elif me.get("refusal"):
        lines = _unclear(me)
    else:
        lines = ["You are inside no agent that headcount knows."]
    if explain:
        lines += [_rung(rung) for rung in me.get("rungs") or ()]
    return lines


def _unclear(me: "Me") -> list[str]:
    """Of a caller who offered what does not hold: what speaks for whom, what against, and the next step."""
    named = [rung for rung in me.get("rungs") or () if rung.get("taken") and rung.get("session")]
    said = [
        f"{SAYS.get(str(rung.get('rung')), 'it')} says {clean(rung['session'])[:4]}, but "
        for rung in named[:1]
    ]
    lines = [f"Not clear who you are: {''.join(said)}{clean(me['refusal'])}."]
    return [*lines, f"Next: {clean(me['way_out'])}"] if me.get("way_out") else lines


def _rung(rung: "Rung") -> str:
    taken = "taken" if rung.get("taken") else "not taken"
    why = clean(rung.get("why"))
    return f"  {clean(rung.get('rung') or rung.get('name')):<12} {taken:<10} {why}".rstrip()
