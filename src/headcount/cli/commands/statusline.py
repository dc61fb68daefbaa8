"""`headcount statusline`: one short line for a prompt, Claude Code's status line, or a status bar.

Rules
  1. It must never hurt: it starts no daemon, waits no longer than STATUSLINE_WITHIN, and when there is nothing to
     say, or nobody to ask, it says nothing and exits 0.
  2. It reads no stdin (Claude Code writes its own report there) and imports next to nothing.

Not here: the characters (present/summary.py).
"""

import os
import sys
from typing import TYPE_CHECKING

from headcount import times
from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from headcount.paths import Places
from headcount.present.summary import glance
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    return None


def run(args: "VerbArguments") -> int:
    counts = _counts()
    if args.json:
        from headcount.cli.output import print_document

        print_document({"text": glance(counts), "counts": counts})
        return exit_codes.DONE
    from headcount.present.screen import screen_of

    line = glance(counts, unicode=screen_of(sys.stdout, os.environ).unicode)
    if line:
        print(line)
    return exit_codes.DONE


def _counts() -> dict[str, int]:
    """Of the living, by activity; empty: nobody can be asked, or nobody is there."""
    connection = Connection(Places.from_environ(os.environ).socket)
    try:
        answer = connection.call("GET", "/v1/status", within=times.STATUSLINE_WITHIN)
    except ClientFault:
        return {}
    finally:
        connection.close()
    found = answer.data.get("counts") if isinstance(answer.data, dict) else None
    counts = found if isinstance(found, dict) else {}
    return {str(name): count for name, count in counts.items() if isinstance(count, int)}
