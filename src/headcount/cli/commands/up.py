"""`headcount up`: start the daemon openly.

Not here: starting itself (client/daemon_process.py), the daemon (daemon/main.py).
"""

import os
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

from headcount import __version__
from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.humans_only import refuse_below_agents
from headcount.present import session_words
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Status


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--foreground", action="store_true", help="stay in this terminal, for a service or a look"
    )


def run(args: "VerbArguments") -> int:
    if args.foreground:
        return _foreground()
    began = time.monotonic()
    client = output.client()
    client.openly = True
    client.before_signal = lambda: refuse_below_agents("up")
    client.meanwhile = None if args.json else _hooks_are_there
    client.get("/healthz")
    took = time.monotonic() - began
    status: Status = client.get("/v1/status?settled=1")  # after the first look at all processes
    if args.json:
        output.print_document({**status, "started": client.started})
        return exit_codes.DONE
    if client.started:
        print(f"headcount {__version__} is up ({took:.1f} s). A unix socket of your own, no telemetry.")
    else:
        print(f"headcount {status['version']} was already up (pid {status['pid']}).")
    print(found(status.get("agents") or {}, already=client.started))
    for warning in status.get("warnings") or ():
        print(f"  ! {clean(warning)}")
    if status.get("rebooted"):
        from headcount.cli.reboot_notice import tell_once

        tell_once(client)
    if not _hooks_are_there():
        print("Next: headcount hooks install      (sharper states; undo with: headcount hooks uninstall)")
    return exit_codes.DONE


@cache
def _hooks_are_there() -> bool:
    """Whether any agent's settings hold our line; where that cannot be told, nothing is suggested. Looked up once:
    while the daemon starts, if it has to, for it takes as long as a fourth of such a start."""
    from headcount.agents.installing.file_change import Installed
    from headcount.cli.actions.hook_setup import standings
    from headcount.client.faults import ClientFault

    try:
        return any(standing.state is not Installed.ABSENT for standing in standings())
    except (
        ClientFault
    ):  # settings of ours that cannot be read: the daemon says so, in the words of every verb
        return True


def found(agents: dict[str, int], already: bool) -> str:
    """`Found 8 agents already running: 4 claude, 3 codex, 1 opencode.`"""
    total = sum(agents.values())
    if not total:
        return "No agents are running yet; when one starts, it is seen. To try it out: headcount demo"
    ordered = sorted(agents.items(), key=lambda item: (-item[1], item[0]))
    kinds = ", ".join(f"{count} {session_words.agent_name({'agent': agent})}" for agent, count in ordered)
    verb = "Found" if already else "Watching"
    running = " already running" if already else ""
    return f"{verb} {total} agent{'s' if total != 1 else ''}{running}: {kinds}."


def _foreground() -> int:
    from headcount.client.daemon_process import allowed, daemon_command, make
    from headcount.paths import Places

    places = Places.from_environ(os.environ)
    make(places)
    sys.stdout.flush()
    environment = allowed(os.environ, places)
    if "NOTIFY_SOCKET" in os.environ:  # systemd's unit of type notify runs this form
        environment["NOTIFY_SOCKET"] = os.environ["NOTIFY_SOCKET"]
    os.execve(sys.executable, daemon_command("--foreground"), environment)  # noqa: S606 (no shell is the point)
