"""`headcount down`: stop the daemon. Agents are not touched, and hooks go on dropping their reports.

Not here: what the daemon does at a stop (daemon/).
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from headcount import times
from headcount.cli import output
from headcount.cli.humans_only import refuse_below_agents
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    del parser  # nothing but --json


def _is_joined() -> bool:
    """By the file that the daemon keeps: nobody can be asked any more."""
    return Path(Places.from_environ(os.environ).state, "fleet.json").exists()


def run(args: "VerbArguments") -> int:
    client = output.client(autostart=False)
    client.before_signal = lambda: refuse_below_agents("down")
    stopped = client.stop()
    if args.json:
        output.print_document({"stopped": stopped})
    elif stopped:
        print("headcount is down. Your agents go on; nothing is watched until: headcount up")
        if _is_joined():
            left = times.FLEET_TTL + times.FLEET_LOCK_DELAY
            print(f"This host is in a fleet: what its agents hold of it is open to others in {left:.0f} s.")
    else:
        print("headcount was not running.")
    return exit_codes.DONE
