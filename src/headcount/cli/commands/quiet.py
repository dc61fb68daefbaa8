"""`headcount quiet DURATION`: an agent says that it will be silent for a while.

Rules of this file
  1. Inside an agent it speaks for that agent; a person names one with --as.

Not here: the cap, and who may (the daemon decides).
"""

from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.client.daemon_access import Client, quoted
from headcount.client.faults import ClientFault, Refused, WrongCall
from headcount.present import time_text
from headcount.present.clean_text import clean, said
from headcount.times import MINUTE, QUIET_MOST
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.answer_views import QuietAnswer
    from headcount.wire.views import Me

NOTE = (
    f"At most {QUIET_MOST / MINUTE:.0f} minutes at once. Meanwhile it is not called stalled; a death is told as ever.\n"
    "Exit codes: 0 declared, 2 usage, 3 not yours or ended, 4 daemon unavailable, 5 not found."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("duration", metavar="DURATION", nargs="?", type=seconds, help="20m, 90s, 1h")
    parser.add_argument("--why", metavar="TEXT", help="shown in its row")
    parser.add_argument("--off", action="store_true", help="the silence is over")
    parser.add_argument("--as", dest="acting_as", metavar="S", help="for that live session (people only)")


def seconds(text: str) -> float:
    from argparse import ArgumentTypeError

    span = time_text.parse_span(text)
    if not span:
        raise ArgumentTypeError(f'"{clean(text)}" is no time; write 20m, 90s or 1h')
    return span


def run(args: "VerbArguments") -> int:
    if (args.duration is None) != args.off:
        raise WrongCall("headcount: how long? Write: headcount quiet 20m, or: headcount quiet --off")
    client = output.client()
    session = args.acting_as or _myself(client)
    if session is None:
        typed = "--off" if args.off else _as_typed(args.duration or 0.0)
        raise Refused(
            403,
            "not-an-agent",
            "No agent is above this shell.",
            f"For one of yours: headcount quiet {typed} --as S",
        )
    wish = {"off": True} if args.off else {"seconds": args.duration, "why": args.why}
    answer: QuietAnswer = client.post(f"/v1/sessions/{quoted(session)}/quiet", wish)
    if args.json:
        output.print_document(answer)
    else:
        print(told(answer, time_text.parse(answer.get("until"))))
    return exit_codes.DONE


def _as_typed(duration: float) -> str:
    """`5m`, not `5m00s`."""
    return time_text.exact_span(duration).removesuffix("00s").removesuffix("00m")


def _myself(client: Client) -> str | None:
    try:
        me: Me = client.get("/v1/sessions/me")
    except ClientFault as fault:
        if fault.exit_code == exit_codes.UNAVAILABLE:
            raise
        return None
    return me.get("session")


def told(answer: "QuietAnswer", until: float | None) -> str:
    row = answer.get("session") or {}
    who = said(row.get("name")) or clean(row.get("id"))[:4]
    if until is None:
        return f"{who} is no longer quiet."
    capped = f" ({QUIET_MOST / MINUTE:.0f} minutes are the most at once)" if answer.get("capped") else ""
    return f"{who} is quiet until {time_text.clock(until, until)}{capped}."
