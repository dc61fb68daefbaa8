"""`headcount down`: stop the daemon. Agents are not touched, and hooks go on dropping their reports.

Not here: what the daemon does at a stop (daemon/).
"""

from typing import TYPE_CHECKING, Any

from headcount.cli import printing
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    del parser  # nothing but --json


def run(args: Any) -> int:
    stopped = printing.client(autostart=False).stop()
    if args.json:
        printing.print_document({"stopped": stopped})
    elif stopped:
        print("headcount is down. Your agents go on; nothing is watched until: headcount up")
    else:
        print("headcount was not running.")
    return codes.DONE
