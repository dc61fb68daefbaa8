"""`headcount hold ITEM -- CMD…`: run a command under a claim.

Rules
  1. This process is the holder: however it ends, the claim is free. Its command ends with it.
  2. A claim lost by force ends the command, by SIGTERM, through the handle that we started it with.
     A daemon that is away loses nothing: nobody else is granted anything meanwhile.
  3. The exit code is the command's. Before it runs: 3 held by another, 4 unavailable, 126 it cannot
     be run, 127 no such command.

Not here: watching for the loss (actions/claim_keeper.py), words for a holder (present/holders.py).
"""

import os
import signal
import subprocess
import sys
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from headcount.cli import output
from headcount.cli.actions.claim_keeper import BY_SIGNAL, Keeper, end_with
from headcount.cli.actions.confirm_and_request import held_lines
from headcount.cli.options import seconds_to_wait
from headcount.client import claims
from headcount.client.faults import ClientFault, WrongCall
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.client.daemon_access import DaemonAccess
    from headcount.wire.views import ClaimAnswer

PASSED_ON = (signal.SIGTERM, signal.SIGHUP)

NOTE = (
    "The claim lasts as long as the command. Exit code: the command's; 3 when another holds the item,\n"
    "4 when the daemon cannot be reached, 126 when the command cannot be run, 127 when there is none."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.usage = "headcount hold [--wait TIME] [--note TEXT] [--json] ITEM -- CMD ..."
    parser.add_argument("item", metavar="ITEM", help="what to hold, as kind:value")
    parser.add_argument("--wait", metavar="TIME", help="wait that long in line: 90, 5m, 2h")
    parser.add_argument("--note", metavar="TEXT", help="what for; others see it")
    parser.add_argument("command", nargs="*", metavar="CMD", help="the command and its words, after --")


def run(args: "VerbArguments") -> int:
    wait = seconds_to_wait(args.wait, "hold")
    if not args.command:
        raise WrongCall("headcount: hold needs a command after --. See: headcount hold --help")
    client = output.client()
    answer: ClaimAnswer = claims.ask(client, claims.acquire(args.item, wait=wait, note=args.note, own=True))
    if not answer.get("granted"):
        item = str(answer.get("item") or args.item)
        if args.json:
            output.print_document(answer)
            return exit_codes.REFUSED
        print("\n".join(held_lines(client, item, answer, "hold", "--", "CMD")), file=sys.stderr)
        return exit_codes.REFUSED
    item, fence = str(answer.get("item")), answer["fence"]
    assert fence is not None  # it was granted
    try:
        return _run(args.command, item, fence)
    finally:
        if not answer.get("under"):  # the claim of whoever is above is not ours to give back
            _give_back(client, item, fence)


def _run(command: list[str], item: str, fence: int) -> int:
    try:
        child = subprocess.Popen(
            command, preexec_fn=partial(end_with, os.getpid())
        )  # no thread of ours runs yet
    except FileNotFoundError:
        return output.no_such(command[0])
    except OSError as error:
        return output.cannot_run(command[0], error)
    keeper = Keeper(item, fence, child)
    before = _pass_signals_on(child)
    try:
        keeper.start()
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else BY_SIGNAL - code


def _pass_signals_on(child: "subprocess.Popen[bytes]") -> dict[int, Any]:
    """Ctrl-C reaches the command by itself, and it decides; what is sent to us alone is passed on."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    before: dict[int, Any] = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    before |= {number: signal.signal(number, pass_on) for number in PASSED_ON}
    return before


def _give_back(client: "DaemonAccess", item: str, fence: int) -> None:
    """Our end frees it too; this is for the next in line, who need not wait for it."""
    try:
        claims.ask(client, claims.release(item, fence=fence))
    except ClientFault:
        return  # lost before, or the daemon is away: our death will say it
