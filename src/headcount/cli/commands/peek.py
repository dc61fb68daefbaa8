"""`headcount peek S`: the last lines of a session's conversation, or of its tmux pane.

Rules
  1. Every line is foreign and goes through the sanitizer. Nothing is kept.

Not here: who may look (the daemon decides).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.daemon_access import quoted
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Peek, PeekLine

LINES = 20
LINES_MOST = 500
WHO = {"user": "user", "agent": "agent", "tool": "  tool"}
WHO_CELLS = 7

NOTE = (
    "People may peek at every session, an agent only at its own.\n"
    "Exit codes: 0 shown, 3 not yours, 4 daemon unavailable, 5 not found, or nothing to see."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "-n", dest="lines", type=count, default=LINES, metavar="LINES", help=f"how many (default {LINES})"
    )
    parser.add_argument("--pane", action="store_true", help="what its tmux pane shows, not its conversation")


def count(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= LINES_MOST):
        raise ArgumentTypeError(f'"{clean(text)}" is no number of lines from 1 to {LINES_MOST}')
    return int(text)


def run(args: "VerbArguments") -> int:
    pane = "&pane=1" if args.pane else ""
    answer: Peek = output.client().get(f"/v1/sessions/{quoted(args.session)}/peek?lines={args.lines}{pane}")
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines(lines_of(answer))
    return exit_codes.DONE


def lines_of(answer: "Peek") -> list[str]:
    lines = answer.get("lines") or []
    if not lines:
        return ["Nothing was said in what can be seen of it."]
    return [_line(each) for each in lines]


def _line(each: "PeekLine") -> str:
    text, who = clean(each.get("text")), each.get("who")
    if who is None:
        return text.rstrip()
    return f"{WHO.get(str(who), clean(who)):<{WHO_CELLS}} {text}".rstrip()
