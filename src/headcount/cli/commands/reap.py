"""`headcount reap [S] [--yes]`: end processes that dead sessions left. Without --yes it only tells what it would do.

Not here: what is verified before a signal (the daemon), listing (leftovers.py).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.actions import confirm_and_request
from headcount.cli.options import KINDS
from headcount.present import event_lines
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import ReapAnswer, Signalled

NOTE = (
    "Only processes are ended, each verified through the handle that is signalled. Panes, worktrees and files stay.\n"
    "Inside an agent: only what was left by sessions that it launched or that ran below it.\n"
    "Exit codes: 0 done, 1 somebody survived, 3 refused, 4 daemon unavailable, 5 no such leftover."
)
ROUNDS = 1


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("sessions", nargs="*", metavar="S", help="what these sessions left; all without any")
    parser.add_argument("--yes", action="store_true", help="do it; without it nothing is done")
    parser.add_argument(
        "--pid", type=int, action="append", metavar="PID", help="only that process; repeatable"
    )
    parser.add_argument("--id", action="append", metavar="ID", help="only that leftover, as --json lists it")
    parser.add_argument("--kind", choices=KINDS, help="only of that kind; of all only processes are ended")
    confirm_and_request.add_kill_after(parser)


def run(args: "VerbArguments") -> int:
    wish: confirm_and_request.EndingWish = {
        "yes": args.yes,
        "sessions": args.sessions,
        "pids": args.pid or [],
        "ids": args.id or [],
        "kind": args.kind,
        "kill_after": args.kill_after,
    }
    answer: ReapAnswer = confirm_and_request.ask(output.client(), "/v1/leftovers/reap", wish, rounds=ROUNDS)
    results = answer.get("results") or []
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines(lines_of(answer, results))
    return confirm_and_request.code_of(results) if args.yes else exit_codes.DONE


def lines_of(answer: "ReapAnswer", results: "list[Signalled]") -> list[str]:
    alone = [f"Left alone, a {clean(each)}" for each in answer.get("left_alone") or ()]
    if not results:
        return [*alone, "No process to end. Nothing done."]
    if not answer.get("dry"):
        return [*(event_lines.sentence(result) for result in results), *alone]
    would = [event_lines.subject(each) for each in results if each.get("outcome") == "would"]
    others = [event_lines.sentence(each) for each in results if each.get("outcome") != "would"]
    plan = (
        [f"Would send SIGTERM to {', '.join(would)}. Nothing done; add --yes."]
        if would
        else ["Nothing done."]
    )
    return [*others, *alone, *plan]
