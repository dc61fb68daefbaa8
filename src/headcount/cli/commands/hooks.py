"""`headcount hooks`: put our line into the agents' settings, take it out, say how it stands.

Rules of this file
  1. Says for each file what became of it; a file that was refused is untouched, and the exit code tells.
  2. Taking hooks out, and pointing those that are there to another home, is for people: an agent is refused.
  3. Without `--agent`: every agent that is on this machine.

Not here: the words (cli/hook_lines.py), the edit and the writing (agents/json_hooks.py), the line
(agents/drop_line.py).
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headcount.cli import hook_lines, printing
from headcount.cli.people import refuse_agents
from headcount.cli.sanitize import clean
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

    from headcount.agents.hook_files import HookFiles, Plan, Standing
    from headcount.agents.port import Agent
    from headcount.agents.settings_file import Refusal

NOTE = (
    "Inside an agent: install and status only. Uninstalling, or pointing hooks to another home, is for people.\n"
    "Exit codes: 0 done, 1 a settings file cannot be read or is invalid (it is left as it is), 3 for people only."
)
FIRST = "claude-code"


class Target(NamedTuple):
    """One agent's settings in one of its places."""

    agent: "Agent"
    hooks: "HookFiles"
    root: Path


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


def run(args: Any) -> int:
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
        printing.print_document({"files": [hook_lines.document(*each) for each in outcomes]})
    else:
        live = _live_sessions() if args.action == "install" else {}
        printing.print_lines(hook_lines.outcome_lines(args.action, outcomes, live, dry=args.dry_run))
    return codes.FAULT if any(_is_refusal(outcome) for _, outcome in outcomes) else codes.DONE


def standings() -> "list[Standing]":
    """How it stands in each place of each agent that is here."""
    return [standing for _, standing in labelled_standings()]


def labelled_standings() -> "list[tuple[str, Standing]]":
    places = Places.from_environ(os.environ)
    return [(agent.label, standing) for agent, standing in _standings(_targets(places, None), places)]


# --- which agents --------------------------------------------------------------------------------------


def _targets(places: Places, only: str | None) -> list[Target]:
    from headcount.agents.table import AGENTS

    able = {name: agent for name, agent in AGENTS.items() if agent.hooks is not None}
    if only is not None and only not in able:
        only = next((name for name, agent in able.items() if agent.label == only), only)
    if only is not None and only not in able:
        raise _NoSuchAgent(only, list(able))
    found = [target for agent in able.values() for target in _of(agent, places)]
    if only is not None:
        return [each for each in found if each.agent.name == only]
    return [each for each in found if _is_here(each)] or [each for each in found if each.agent.name == FIRST]


def _of(agent: "Agent", places: Places) -> list[Target]:
    hooks = agent.hooks
    assert hooks is not None
    roots = hooks.roots(os.environ, Path.home())
    if agent.name == FIRST:
        roots = [*roots, *_more_roots(places)]
    return [Target(agent, hooks, root) for root in dict.fromkeys(roots)]


def _more_roots(places: Places) -> list[Path]:
    from headcount.daemon.config import BadSetting, Config

    try:
        more = Config.read(Path(places.config), os.environ).claude_roots
    except BadSetting as error:
        raise ClientFault(str(error)) from error
    return [Path(each).expanduser() for each in more]


def _is_here(target: Target) -> bool:
    return target.root.is_dir() or any(shutil.which(program) for program in target.hooks.programs)


def _asks(hooks: "HookFiles") -> bool:
    return bool(getattr(hooks, "questions", None))


class _NoSuchAgent(ClientFault):
    exit_code = codes.USAGE

    def __init__(self, asked: str, known: list[str]) -> None:
        super().__init__(f'"{clean(asked)}" has no hooks here. Known: {", ".join(known)}.', None)


# --- changing ------------------------------------------------------------------------------------------


def _make(places: Places, targets: list[Target]) -> None:
    from headcount.agents.drop_line import directory_of
    from headcount.client.start import make

    make(places)
    for each in targets:
        directory_of(Path(places.mailbox), each.agent.name).mkdir(mode=0o700, exist_ok=True)


def _change(
    action: str, target: Target, places: Places, asks: frozenset[str], *, dry: bool
) -> "Plan | Refusal":
    from headcount.agents.ask_line import Asking
    from headcount.agents.drop_line import directory_of

    hooks, root, state = target.hooks, target.root, Path(places.state)
    mailbox = directory_of(Path(places.mailbox), target.agent.name)
    if action == "install" or asks:
        taken = asks if action == "uninstall" else frozenset()
        asking = Asking(Path(places.socket), asks - taken, taken)
        run = hooks.plan_install if dry else hooks.install
        return run(root, mailbox, state, asking)
    return hooks.plan_uninstall(root, state) if dry else hooks.uninstall(root, state)


def _is_refusal(outcome: object) -> bool:
    from headcount.agents.settings_file import Refusal

    return isinstance(outcome, Refusal)


def _live_sessions() -> dict[str, list[str]]:
    """Of each agent where those that are alive write their conversations, if somebody knows. One that ended meanwhile
    is not counted, and nothing is promised of it."""
    found: dict[str, list[str]] = {}
    with suppress(ClientFault, KeyError):
        client = printing.client(autostart=False)
        for each in client.get("/v1/sessions")["sessions"]:
            if each.get("liveness") == "alive":
                detail = client.get(f"/v1/sessions/{each['id']}")
                found.setdefault(str(each.get("agent")), []).append(str(detail.get("transcript") or ""))
    return found


# --- how it stands -------------------------------------------------------------------------------------


def _standings(targets: list[Target], places: Places) -> "list[tuple[Agent, Standing]]":
    from headcount.agents.drop_line import directory_of

    return [
        (each.agent, each.hooks.standing(each.root, directory_of(Path(places.mailbox), each.agent.name)))
        for each in targets
    ]


def _status(targets: list[Target], places: Places, *, as_json: bool) -> int:
    found = _standings(targets, places)
    if as_json:
        printing.print_document({"files": [hook_lines.standing_document(*each) for each in found]})
    else:
        printing.print_lines(hook_lines.standing_lines(found))
    return codes.FAULT if any(each.state.value == "unreadable" for _, each in found) else codes.DONE
