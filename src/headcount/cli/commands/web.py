"""`headcount web`: open the page in the browser by a link that is good once.

Rules
  1. The link is shown, or given to a browser; it is written nowhere.
  2. A browser is asked in the background: one that does not start is no fault, the link is on the screen.

Not here: what the page shows (web/static), who may open it (daemon/api/permissions.py).
"""

import os
import subprocess
import sys
from shutil import which
from typing import TYPE_CHECKING

from headcount.clean_text import word_of_command
from headcount.cli import output
from headcount.client.faults import WrongCall
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import PageLink

OPENERS = ("xdg-open", "open", "wslview")


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("--print", action="store_true", help="print the link, open no browser")
    parser.add_argument("--close", action="store_true", help="close the page: every tab is logged out")


def run(args: "VerbArguments") -> int:
    if args.print and args.close:
        raise WrongCall("headcount: --print opens the page and --close closes it. See: headcount web --help")
    client = output.client(autostart=not args.close)
    if args.close:
        closed = client.delete("/v1/web")
        if args.json:
            output.print_document(closed)
        else:
            print("The page is closed; its tabs are logged out." if closed["closed"] else "It was not open.")
        return exit_codes.DONE
    link: PageLink = client.post("/v1/web")
    if args.json:
        output.print_document(link)
        return exit_codes.DONE
    print(link["url"])
    opened = False
    if not args.print:
        opened = _open(link["url"])
        print("Opening your browser." if opened else "Open it in your browser.", end=" ", file=sys.stderr)
    print("The link is good once, for a minute.", file=sys.stderr)
    if opened and sys.platform != "darwin":
        return exit_codes.DONE
    config = word_of_command(Places.from_environ(os.environ).config)
    other = f"remove web_port from {config}, then: headcount down && headcount up"
    way = f"open {link['plain_url']}" if link.get("plain_url") else other
    print(f"If your browser does not resolve *.localhost (Safari), {way}", file=sys.stderr)
    return exit_codes.DONE


def _open(url: str) -> bool:
    """By the desktop's own opener; without a desktop there is none to open."""
    if sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    opener = next((found for name in OPENERS if (found := which(name))), None)
    if opener is None:
        return False
    nowhere = subprocess.DEVNULL
    subprocess.Popen([opener, url], stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    return True
