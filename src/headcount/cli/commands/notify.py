"""`headcount notify test`: one notice by every channel, and what came of each.

Not here: what is notified of (the daemon), where channels are set (config.toml).
"""

from typing import TYPE_CHECKING

from headcount import times
from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.faults import refusal
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import ChannelOutcome, NotifyTest

NOTE = """\
Channels are set in config.toml, below [notify]; the daemon reads it when it starts:
  desktop = true
  command = ["/path/to/program"]    it gets the notices as JSON on its stdin
  command = ["curl", "-sf", "-H", "Content-Type: application/json", "--data-binary", "@-", "https://example.org/hook"]
  long_turn_minutes = 2      kinds = ["needs-you", "died-holding"]
Exit codes: 0 all arrived, 1 one did not, 2 usage, 3 refused, 4 daemon unavailable, 5 no channel is set."""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("action", choices=["test"], help="send one notice by every channel")


def run(args: "VerbArguments") -> int:
    within = times.NOTICE_WITHIN + times.CALL_WITHIN  # a slow program is an answer too
    said = output.client().answer("POST", "/v1/notify/test", {}, within=within)
    if said.status >= 400:
        raise refusal(said.status, said.data)
    answer: NotifyTest = said.data
    channels = answer.get("channels") or []
    if args.json:
        output.print_document(answer)
    elif channels:
        output.print_lines([_line(each) for each in channels])
    else:
        output.print_lines(
            [
                "No channel is set, so nobody is notified of anything.",
                f"Set one in {clean(answer.get('config'))}, for example:",
                "  [notify]",
                "  desktop = true",
                "Then: headcount down && headcount notify test",
            ]
        )
    if answer.get("drift") and not args.json:
        output.print_lines([f"! {clean(answer['drift'])}"])
    if not channels:
        return exit_codes.NOT_FOUND
    return exit_codes.DONE if all(each.get("ok") for each in channels) else exit_codes.FAULT


def _line(channel: "ChannelOutcome") -> str:
    name = clean(channel.get("channel"))
    return (
        f"{name}: delivered"
        if channel.get("ok")
        else f"{name}: not delivered, {clean(channel.get('because'))}"
    )
