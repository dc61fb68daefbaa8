"""`headcount mcp`: the MCP server that agents start, and telling the agents about it.

Rules
  1. Without an action it serves on stdin and stdout, for the agent that started it. A person at a terminal gets a hint.
  2. The SDK is an extra and takes a second to import: only `serve` imports it, and if it is missing the error says
     how to install it.
  3. Every agent gets a line that says what was done. Only people uninstall, or repoint an existing entry.

Not here: the tools (mcp/), the agents' own commands and settings (agents/installing/mcp_server.py).
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.agents.installing import mcp_server
from headcount.agents.installing.mcp_server import AGENTS, EXTRA, is_possible
from headcount.agents.installing.settings_file import Refusal
from headcount.clean_text import clean, command
from headcount.cli import output
from headcount.cli.actions.hook_setup import home
from headcount.cli.humans_only import refuse_agents
from headcount.client.faults import ClientFault
from headcount.present.session_words import AGENTS_CALLED
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments

NOTE = (
    "Without an action it serves MCP on stdin and stdout; agents start it so.\n"
    "skill prints what agents are told about when to claim, for an AGENTS.md.\n"
    f"The SDK is an extra; {EXTRA}\n"
    "Exit codes: 0 done, 1 something was not done: refused, or left for you to do, or the extra is missing."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    actions = ["serve", "install", "uninstall", "status", "skill"]
    parser.add_argument("action", nargs="?", choices=actions, default="serve")
    parser.add_argument(
        "--agent", type=_called, choices=AGENTS, help="only this agent; else all that are used here"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be run, change nothing")


def _called(word: str) -> str:
    return AGENTS_CALLED.get(word, word)


def run(args: "VerbArguments") -> int:
    if args.action == "serve":
        return _serve()
    if args.action == "skill":
        print(import_module("headcount.mcp.server").SKILL, end="")
        return exit_codes.DONE
    targets = mcp_server.targets(os.environ, Path.home(), args.agent)
    return _status(args, targets) if args.action == "status" else _change(args, targets)


def _serve() -> int:
    if sys.stdin.isatty():
        raise ClientFault(
            "This is the MCP server: agents start it and speak to it on stdin.",
            "To tell your agents of it: headcount mcp install",
        )
    _need_sdk()
    import_module("headcount.mcp.server").run()
    return exit_codes.DONE


def _need_sdk() -> None:
    if not is_possible():
        raise ClientFault("The MCP server needs the MCP SDK, which is an extra.", f"Install it {EXTRA}")


def _change(args: "VerbArguments", targets: list[mcp_server.Target]) -> int:
    server = mcp_server.this_server(os.environ) if args.action == "install" else None
    if server is None and not args.dry_run:
        refuse_agents("mcp uninstall")
    if server is not None:
        _need_sdk()
        if not args.dry_run and any(mcp_server.repoints(each, server) for each in targets):
            refuse_agents("pointing an MCP entry that is installed elsewhere")
    outcomes = [(each.agent, mcp_server.change(each, server, dry=args.dry_run)) for each in targets]
    if args.json:
        output.print_document({"agents": [_document(*each) for each in outcomes]})
    else:
        none = [f"No agent that headcount knows was used here; name one: --agent {AGENTS[0]}"]
        output.print_lines([line for each in outcomes for line in _lines(args, *each)] or none)
    undone = [each for _, each in outcomes if isinstance(each, Refusal) or not (each.ran or args.dry_run)]
    return exit_codes.FAULT if undone else exit_codes.DONE


def _lines(args: "VerbArguments", agent: str, outcome: "mcp_server.Done | Refusal") -> list[str]:
    is_install, place = args.action == "install", home(outcome.path)
    if isinstance(outcome, Refusal):
        return [f"{agent:<12} {place}: {clean(outcome.why)}. Fix that and run it again."]
    if not outcome.changed:
        return [f"{agent:<12} {place}   {'already installed' if is_install else 'nothing of ours there'}"]
    if outcome.ran:
        done = "+1 server; sessions that start from now on have it" if is_install else "-1 server"
        return [f"{agent:<12} {place}   {done}"]
    if args.dry_run and outcome.command:
        return [f"{agent:<12} would run: {command(*outcome.command)}"]
    first, *rest = [clean(line) for line in outcome.by_hand.splitlines()]
    if not outcome.command:
        return [f"{agent:<12} its own command cannot do this; {first}", *rest]
    missing = f"no {outcome.command[0]} on your PATH; run: {command(*outcome.command)}"
    return [f"{agent:<12} {missing}", f"{'':<12} or {first}", *rest]


def _status(args: "VerbArguments", targets: list[mcp_server.Target]) -> int:
    found = [(each, mcp_server.standing(each)) for each in targets]
    if args.json:
        rows = [{"agent": each.agent, "path": str(each.path), "state": state} for each, state in found]
        output.print_document({"agents": rows, "sdk": is_possible()})
    else:
        lines = [f"{each.agent:<12} {home(each.path)}   {clean(state)}" for each, state in found]
        sdk = "the SDK is installed" if is_possible() else f"the SDK is missing: {EXTRA}"
        output.print_lines([*lines, sdk])
    return exit_codes.DONE


def _document(agent: str, outcome: "mcp_server.Done | Refusal") -> dict[str, object]:
    if isinstance(outcome, Refusal):
        return {"agent": agent, "path": str(outcome.path), "refused": outcome.why}
    return {
        "agent": agent,
        "path": str(outcome.path),
        "changed": outcome.changed,
        "command": list(outcome.command) or None,
        "by_hand": outcome.by_hand or None,
        "done": outcome.ran,
    }
