"""`headcount mcp`: the MCP server that agents start, and telling the agents of it.

Rules of this file
  1. Without an action it serves on stdin and stdout: it is an agent that runs it so. A person in a terminal is told.
  2. The SDK is an extra and takes a second to import: nobody else pays for it, and its absence names the way out.
  3. Says for each agent what became of it; taking it back is for people.

Not here: the tools (mcp/), the agents' settings (agents/installing/mcp_server.py).
"""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.cli import output
from headcount.cli.humans_only import refuse_agents
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.present.clean_text import clean, command
from headcount.present.session_words import AGENTS_CALLED
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.agents.installing.mcp_server import Done
    from headcount.agents.installing.settings_file import Refusal
    from headcount.agents.mcp_entry import Server
    from headcount.cli.arguments import VerbArguments

AGENTS = ("claude-code", "codex", "opencode", "gemini")
PASSED_ON = ("HEADCOUNT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
EXTRA = (
    "in the checkout, as you installed it: pip install '.[mcp]', or: uv tool install '.[mcp]', "
    "or: pipx install --force '.[mcp]'"
)
NOTE = (
    "Without an action it serves MCP on stdin and stdout; agents start it so.\n"
    "skill prints what agents are told about when to claim, for an AGENTS.md.\n"
    f"The SDK is an extra; {EXTRA}\n"
    "Exit codes: 0 done, 1 something was not done: refused, or left for you to run, or the extra is missing."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    actions = ["serve", "install", "uninstall", "status", "skill"]
    parser.add_argument("action", nargs="?", choices=actions, default="serve")
    parser.add_argument(
        "--agent", type=_called, choices=AGENTS, help="only this agent; else all that are used here"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, write nothing")


def _called(word: str) -> str:
    return AGENTS_CALLED.get(word, word)


def run(args: "VerbArguments") -> int:
    if args.action == "serve":
        return _serve()
    if args.action == "skill":
        print(import_module("headcount.mcp.server").SKILL, end="")
        return exit_codes.DONE
    return _status(args) if args.action == "status" else _change(args)


def _serve() -> int:
    if sys.stdin.isatty():
        raise ClientFault(
            "This is the MCP server: agents start it and speak to it on stdin.",
            "To tell your agents of it: headcount mcp install",
        )
    if not is_possible():
        raise ClientFault("The MCP server needs the MCP SDK, which is an extra.", f"Install it {EXTRA}")
    import_module("headcount.mcp.server").run()
    return exit_codes.DONE


def is_possible() -> bool:
    """Whether the SDK is installed; our own package of that name is below `headcount`."""
    return find_spec("mcp") is not None


def _change(args: "VerbArguments") -> int:
    from headcount.agents.installing import mcp_server
    from headcount.agents.installing.settings_file import Refusal

    if args.action == "uninstall" and not args.dry_run:
        refuse_agents("mcp uninstall")
    if args.action == "install" and not is_possible():
        raise ClientFault(
            "The MCP server needs the MCP SDK, which is an extra. Nothing written.", f"Install it {EXTRA}"
        )
    is_install = args.action == "install" and not args.dry_run
    if is_install and any(mcp_server.repoints(each, server()) for each in _wanted(args.agent)):
        refuse_agents("pointing an MCP entry that is installed elsewhere")
    state = Path(Places.from_environ(os.environ).state)
    outcomes: list[tuple[str, Done | Refusal]] = []
    for target in _wanted(args.agent):
        if args.action == "install":
            outcomes.append((target.agent, mcp_server.install(target, server(), state, dry=args.dry_run)))
        else:
            outcomes.append((target.agent, mcp_server.uninstall(target, state, dry=args.dry_run)))
    if args.json:
        output.print_document({"agents": [_document(agent, each) for agent, each in outcomes]})
    else:
        none = [f"No agent that headcount knows was used here; name one: --agent {AGENTS[0]}"]
        lines = [
            line for agent, each in outcomes for line in _lines(args.action, agent, each, dry=args.dry_run)
        ]
        output.print_lines(lines or none)
    undone = [each for _, each in outcomes if isinstance(each, Refusal) or not (each.ran or args.dry_run)]
    return exit_codes.FAULT if undone else exit_codes.DONE


def server() -> "Server":
    """This very installation, by absolute paths: an agent's PATH is not this shell's."""
    from headcount.agents.mcp_entry import Server

    env = {name: value for name in PASSED_ON if (value := os.environ.get(name))}
    if "HEADCOUNT_HOME" in env:
        env["HEADCOUNT_HOME"] = str(Places.from_environ(os.environ).home)
    script = Path(sys.executable).with_name("headcount")
    if script.exists():
        return Server(str(script), ("mcp",), env)
    return Server(sys.executable, ("-P", "-m", "headcount", "mcp"), env)


def _wanted(agent: str | None) -> list[Any]:
    from headcount.agents.installing import mcp_server

    targets = mcp_server.targets(os.environ, Path.home())
    return [targets[agent]] if agent else [each for each in targets.values() if mcp_server.is_there(each)]


def _lines(action: str, agent: str, outcome: "Done | Refusal", *, dry: bool) -> list[str]:
    from headcount.agents.installing.settings_file import Refusal

    place = _home(outcome.path)
    if isinstance(outcome, Refusal):
        where = f" line {outcome.line}, column {outcome.column}" if outcome.line else ""
        return [f"{agent:<12} {place}{where}: {clean(outcome.why)}. Nothing written; mend it and try again."]
    if not outcome.changed:
        said = "already installed" if action == "install" else "nothing of ours there"
        return [f"{agent:<12} {place}   {said}, nothing written"]
    if not outcome.ran:
        return [
            f"{agent:<12} {'would run' if dry else 'no claude on your PATH; run'}: {command(*outcome.command)}"
        ]
    if dry:
        return _diff(outcome)
    live = "; sessions that start from now on have it" if action == "install" else ", the rest as it was"
    return [f"{agent:<12} {place}   {'+1 server' if action == 'install' else '-1 server'}{live}"]


def _diff(done: "Done") -> list[str]:
    from difflib import unified_diff

    before, after = (
        (side or b"").decode("utf-8", "replace").splitlines() for side in (done.before, done.after)
    )
    path = str(done.path)
    return [clean(line) for line in unified_diff(before, after, path, path, lineterm="")]


def _status(args: "VerbArguments") -> int:
    from headcount.agents.installing import mcp_server

    found = [(each, mcp_server.standing(each)) for each in _wanted(args.agent)]
    if args.json:
        rows = [{"agent": each.agent, "path": str(each.path), "state": state} for each, state in found]
        output.print_document({"agents": rows, "sdk": is_possible()})
    else:
        lines = [f"{each.agent:<12} {_home(each.path)}   {clean(state)}" for each, state in found]
        output.print_lines(
            [*lines, "the SDK is installed" if is_possible() else f"the SDK is missing: {EXTRA}"]
        )
    return exit_codes.DONE


def _document(agent: str, outcome: "Done | Refusal") -> dict[str, Any]:
    from headcount.agents.installing.settings_file import Refusal

    if isinstance(outcome, Refusal):
        return {"agent": agent, "path": str(outcome.path), "refused": outcome.why, "line": outcome.line}
    command = list(outcome.command) if outcome.command else None
    return {
        "agent": agent,
        "path": str(outcome.path),
        "changed": outcome.changed,
        "command": command,
        "done": outcome.ran,
    }


def _home(path: Path) -> str:
    home, shown = str(Path.home()), str(path)
    return clean("~" + shown[len(home) :] if shown.startswith(home + "/") else shown)
