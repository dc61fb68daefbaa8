"""`headcount resume S`: go on with a session's conversation, by the agent's own command, in its directory.

Rules
  1. First it is asked whether somebody has the conversation: two processes on one transcript fork it (K1).
  2. The command comes from the daemon, which makes it from ids of the agent's own form only (K10). It is run
     without a shell.
  3. What it held before is not its own again: claims were freed at the death.

Not here: how it is started (actions/start_agent.py), who has it (daemon/routes/terminals.py).
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.clean_text import command as to_paste
from headcount.clean_text import said
from headcount.cli import output
from headcount.cli.actions import start_agent
from headcount.client.daemon_access import quoted
from headcount.client.faults import ClientFault
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import Resumption, SessionRow

NOTE = (
    "The agent's command becomes this process, or runs in a new tmux window.\n"
    "Exit codes: the command's; 3 somebody has the conversation, 4 daemon unavailable, 5 not known."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument("--anyway", action="store_true", help="although somebody has the conversation")
    parser.add_argument("--tmux", nargs="?", const="", metavar="SESSION", help="in a new tmux window")
    parser.add_argument("--print", action="store_true", help="only say the command and its directory")
    parser.add_argument("--window", action="store_true", help="this terminal was opened for it")
    parser.add_argument("--launched-by", metavar="S", help="the session that opened this terminal")


def run(args: "VerbArguments") -> int:
    client = output.client()
    found: Resumption = client.get(f"/v1/sessions/{quoted(args.session)}/resume")
    raw, command, cwd = found["session"], [str(word) for word in found["command"]], found.get("cwd")
    if (alive_in := found.get("alive_in")) and not args.anyway:
        raise start_agent.alive_elsewhere(alive_in)
    if args.print:
        return _say(found, as_json=args.json)
    if not cwd or not Path(cwd).is_dir():
        raise ClientFault(
            f"Its directory {said(cwd or '')} is not there any more.", f"The command is: {to_paste(*command)}"
        )
    program = shutil.which(command[0])
    if program is None:
        return output.no_such(command[0])
    if args.tmux is not None:
        words = ["resume", "--window", *(["--anyway"] if args.anyway else []), str(raw["id"])]
        return start_agent.in_window(client, args.tmux, cwd, words, as_json=args.json)
    os.chdir(cwd)
    return start_agent.become(client, program, command, registration(raw, args))


def registration(raw: "SessionRow", args: "VerbArguments") -> dict[str, object]:
    given = {
        "agent": raw["agent"],
        "conversation": raw["conversation"],
        "role": raw.get("role"),
        "groups": raw.get("groups") or None,
        "anyway": True if args.anyway else None,
        "window": True if args.window else None,
        "launched_by": args.launched_by,
    }
    return {name: value for name, value in given.items() if value is not None}


def _say(found: "Resumption", *, as_json: bool) -> int:
    if as_json:
        output.print_document(found)
    else:
        print(f"{to_paste('cd', found.get('cwd') or '.')} && {to_paste(*found['command'])}")
    return exit_codes.DONE
