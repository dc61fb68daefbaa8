"""`headcount hooks`: put our line into the agents' settings, take it out, say how it stands.

Rules
  1. Says for each file what became of it; a file that was refused is untouched, and the exit code tells.
  2. Taking hooks out, and pointing those that are there to another home, is for people: an agent is refused.
  3. Without `--agent`: every agent that is on this machine.

Not here: the words (cli/actions/hook_setup.py), the edit and the writing (agents/installing/json_hooks.py), the line
(agents/installing/hook_line_mailbox.py).
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.actions import hook_setup
from headcount.cli.actions.hook_setup import HookTarget, _asks, _standings, _targets
from headcount.cli.humans_only import refuse_agents
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.agents.installing.file_change import FileChange
    from headcount.agents.installing.settings_file import Refusal
    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import SessionDetail, Sessions

NOTE = (
    "Inside an agent: install and status only. Uninstalling, or pointing hooks to another home, is for people.\n"
    "Exit codes: 0 done, 1 a settings file cannot be read or is invalid (it is left as it is), 3 for people only."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("action", choices=["install", "uninstall", "status"])
    parser.add_argument(
        "--agent", metavar="A", help="only this agent's settings: claude-code, codex, opencode, gemini, …"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the change as a diff, write nothing")
    parser.add_argument(
        "--guard",
        action="store_true",
        help="also: edits of paths that another session has claimed are refused (uninstall: only this)",
    )
    parser.add_argument(
        "--context",
        action="store_true",
        help="also: a starting session is told what it held before and who works here (uninstall: only this)",
    )


def run(args: "VerbArguments") -> int:
    places = Places.from_environ(os.environ)
    targets = _targets(places, args.agent)
    if args.action == "status":
        return _status(targets, places, as_json=args.json)
    if args.action == "uninstall" and not args.dry_run:
        refuse_agents("hooks uninstall")
    asks = frozenset(kind for kind in ("guard", "context") if getattr(args, kind))
    targets = [each for each in targets if not asks or _asks(each.hooks)]
    if args.action == "install" and not args.dry_run:
        plans = [_change("install", each, places, asks, dry=True) for each in targets]
        if any(getattr(plan, "repoints", False) for plan in plans):
            refuse_agents("pointing hooks that are installed to another home")
        _make(places, targets)
    outcomes = [(each.agent, _change(args.action, each, places, asks, dry=args.dry_run)) for each in targets]
    if args.json:
        output.print_document({"files": [hook_setup.document(*each) for each in outcomes]})
    else:
        live = _live_sessions() if args.action == "install" else {}
        output.print_lines(hook_setup.outcome_lines(args.action, outcomes, live, dry=args.dry_run))
    return exit_codes.FAULT if any(_is_refusal(outcome) for _, outcome in outcomes) else exit_codes.DONE


# --- which agents --------------------------------------------------------------------------------------


# --- changing ------------------------------------------------------------------------------------------


def _make(places: Places, targets: list[HookTarget]) -> None:
    from headcount.agents.installing.hook_line_mailbox import directory_of
    from headcount.client.daemon_process import make

    make(places)
    for each in targets:
        directory_of(Path(places.mailbox), each.agent.name).mkdir(mode=0o700, exist_ok=True)


def _change(
    action: str, target: HookTarget, places: Places, asks: frozenset[str], *, dry: bool
) -> "FileChange | Refusal":
    from headcount.agents.installing.hook_line_asks_daemon import Asking
    from headcount.agents.installing.hook_line_mailbox import directory_of

    hooks, root, state = target.hooks, target.root, Path(places.state)
    mailbox = directory_of(Path(places.mailbox), target.agent.name)
    if action == "install" or asks:
        taken = asks if action == "uninstall" else frozenset()
        asking = Asking(Path(places.socket), asks - taken, taken)
        run = hooks.plan_install if dry else hooks.install
        return run(root, mailbox, state, asking)
    return hooks.plan_uninstall(root, state) if dry else hooks.uninstall(root, state)


def _is_refusal(outcome: object) -> bool:
    from headcount.agents.installing.settings_file import Refusal

    return isinstance(outcome, Refusal)


def _live_sessions() -> dict[str, list[str]]:
    """Of each agent where those that are alive write their conversations, if somebody knows. One that ended meanwhile
    is not counted, and nothing is promised of it."""
    found: dict[str, list[str]] = {}
    with suppress(ClientFault, KeyError):
        client = output.client(autostart=False)
        listed: Sessions = client.get("/v1/sessions")
        for each in listed["sessions"]:
            if each.get("liveness") == "alive":
                detail: SessionDetail = client.get(f"/v1/sessions/{each['id']}")
                found.setdefault(str(each.get("agent")), []).append(str(detail.get("transcript") or ""))
    return found


# --- how it stands -------------------------------------------------------------------------------------


def _status(targets: list[HookTarget], places: Places, *, as_json: bool) -> int:
    found = _standings(targets, places)
    if as_json:
        output.print_document({"files": [hook_setup.standing_document(*each) for each in found]})
    else:
        output.print_lines(hook_setup.standing_lines(found))
    return exit_codes.FAULT if any(each.state.value == "unreadable" for _, each in found) else exit_codes.DONE
