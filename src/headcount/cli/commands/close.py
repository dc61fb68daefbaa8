"""`headcount close S`: end a session's process, then what it left, then its window if headcount opened it.

Not here: the order of things and what is verified (the daemon).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.actions import confirm_and_request
from headcount.client.daemon_access import quoted
from headcount.present import event_lines

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import CloseAnswer, Signalled

NOTE = (
    "First the agent, then its surviving processes: an agent that ignores SIGTERM keeps everything it has.\n"
    "Undone by: headcount resume S. Worktrees and files stay as they are.\n"
    "On a terminal you are asked if it works or holds something; --yes skips that.\n"
    "Inside an agent: only sessions that it launched or that run below it.\n"
    "Exit codes: 0 closed, 1 somebody survived, 2 usage, 3 refused, 4 daemon unavailable, 5 not found."
)
ROUNDS = 3  # the agent, a second writer, what they left


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "--all",
        action="store_true",
        help="also other live processes of the conversation, and sessions beside it",
    )
    parser.add_argument("--close-window", action="store_true", help="its tmux window too, whoever opened it")
    confirm_and_request.add_kill_after(parser)
    confirm_and_request.add_yes(parser)


def run(args: "VerbArguments") -> int:
    wish: confirm_and_request.EndingWish = {
        "all": args.all,
        "close_window": args.close_window,
        "kill_after": args.kill_after,
    }
    client = output.client()
    session = confirm_and_request.agreed(client, args.session, "close", yes=args.yes, all=args.all)
    path = f"/v1/sessions/{quoted(session)}/close"
    answer: CloseAnswer = confirm_and_request.ask(client, path, wish, rounds=ROUNDS)
    results = answer.get("results") or []
    if args.json:
        output.print_document(answer)
    else:
        output.print_lines(lines_of(answer, results))
    return confirm_and_request.code_of(results)


def lines_of(answer: "CloseAnswer", results: "list[Signalled]") -> list[str]:
    session = clean(answer.get("session"))[:4]
    if answer.get("again") and not results:
        return [f"{session} was closed before; nothing was left to end."]
    lines = [event_lines.sentence(result) for result in results]
    if not answer.get("closed"):
        return [*lines, f"{session} is not closed; nothing else was touched."]
    others = answer.get("others") or []
    if others:
        pids = ", ".join(clean(pid) for pid in others)
        lines.append(f"The conversation is still open in process {pids}, left alone: --all ends it too.")
    if answer.get("window"):
        lines.append(clean(answer.get("window")))
    again = f" To go on: headcount resume {session}" if answer.get("resume") and not others else ""
    return [*lines, f"{session} is closed.{again}"]
