"""`headcount hooks`: put our line into the agents' settings, take it out, say how it stands.

Rules of this file
  1. Says for each file what became of it; a file that was refused is untouched, and the exit code tells.
  2. Taking hooks out is for people: an agent that runs this is refused.

Not here: the edit and the writing (agents/claude_code/hooks.py), the line (agents/drop_line.py).
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.cli import printing
from headcount.cli.sanitize import clean
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

    from headcount.agents.claude_code.hooks import Plan, Standing
    from headcount.agents.settings_file import Refusal

NOTE = "Exit codes: 0 done, 1 a settings file cannot be read or is invalid (it is left as it is)."
AGENT = "claude-code"
SHORT = "claude"


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("action", choices=["install", "uninstall", "status"])
    parser.add_argument("--agent", choices=[AGENT], default=AGENT, help="only this agent's settings")
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
    if args.action == "status":
        return _status(as_json=args.json)
    places = Places.from_environ(os.environ)
    roots = _roots(places)
    if args.action == "uninstall" and not args.dry_run:
        _refuse_agents()
    if args.action == "install" and not args.dry_run:
        from headcount.client.start import make

        make(places)
    asks = frozenset(kind for kind in ("guard", "context") if getattr(args, kind))
    outcomes = [_change(args.action, root, places, asks, dry=args.dry_run) for root in roots]
    if args.json:
        printing.print_document({"files": [_document(each) for each in outcomes]})
    else:
        for each in outcomes:
            printing.print_lines(_lines(args.action, each, dry=args.dry_run))
    return codes.FAULT if any(_is_refusal(each) for each in outcomes) else codes.DONE


class _InsideAgent(ClientFault):
    exit_code = codes.REFUSED

    def __init__(self, whom: str, hint: str | None) -> None:
        super().__init__(
            f"You are inside {whom}; hooks uninstall is for people. Use a shell outside it.", hint
        )


def _refuse_agents() -> None:
    """By the kernel's word where a daemon can be asked; by the marks that agents leave in any case."""
    from headcount.client import ledger

    mark = _agent_mark()
    if mark is not None:
        raise _InsideAgent("an agent", f"({mark} is set here.)")
    try:
        me = ledger.ask(printing.client(autostart=False), ledger.who_am_i())
    except ClientFault:
        return  # nobody to ask, or outside every agent
    if me.get("session"):
        raise _InsideAgent(f"agent {clean(me['session'])[:4]}", None)


def _agent_mark() -> str | None:
    from headcount.agents.table import AGENTS

    marks = sorted(mark for agent in AGENTS.values() for mark in agent.marks)
    return next((mark for mark in marks if os.environ.get(mark)), None)


def _roots(places: Places) -> list[Path]:
    from headcount.agents.table import AGENTS
    from headcount.daemon.config import BadSetting, Config

    registry = AGENTS[AGENT].registry
    assert registry is not None
    try:
        more = Config.read(Path(places.config), os.environ).claude_roots
    except BadSetting as error:
        raise ClientFault(str(error)) from error
    found = [*registry.roots(os.environ, Path.home()), *(Path(each).expanduser() for each in more)]
    return list(dict.fromkeys(found))


def _change(action: str, root: Path, places: Places, asks: frozenset[str], *, dry: bool) -> "Plan | Refusal":
    from headcount.agents.claude_code import hooks
    from headcount.agents.claude_code.asking import Asking

    mailbox, state, socket = Path(places.mailbox), Path(places.state), Path(places.socket)
    if action == "install" or asks:
        taken = asks if action == "uninstall" else frozenset()
        asking = Asking(socket, asks - taken, taken)
        run = hooks.plan_install if dry else hooks.install
        return run(root, mailbox, state, asking)
    return hooks.plan_uninstall(root, state) if dry else hooks.uninstall(root, state)


def _is_refusal(outcome: object) -> bool:
    from headcount.agents.settings_file import Refusal

    return isinstance(outcome, Refusal)


def _lines(action: str, outcome: "Plan | Refusal", *, dry: bool) -> list[str]:
    from headcount.agents.claude_code.hooks import diff
    from headcount.agents.settings_file import Refusal

    if isinstance(outcome, Refusal):
        where = f" line {outcome.line}, column {outcome.column}" if outcome.line else ""
        return [
            f"{_home(outcome.path)}{where}: {clean(outcome.why)}. Nothing written; mend it and try again."
        ]
    if dry:
        shown = diff(outcome).splitlines()
        return (
            [clean(row) for row in shown] if shown else [f"{_home(outcome.settings)}: nothing would change."]
        )
    said = _installed(outcome) if action == "install" else _uninstalled(outcome)
    return [f"{SHORT:<9} {_home(outcome.settings)}   {said}"]


def _installed(plan: "Plan") -> str:
    if not plan.changes:
        return "already installed, nothing written"
    parts = [f"+{_entries(plan.added)}"] if plan.added else []
    parts += [f"{plan.renewed} brought up to date"] if plan.renewed else []
    parts += [f"{plan.removed} of an earlier version removed"] if plan.removed else []
    live = _live_sessions()
    return ", ".join([*parts, "yours untouched"]) + (
        f"; live in {live} session{'s' if live != 1 else ''}" if live else ""
    )


def _uninstalled(plan: "Plan") -> str:
    if not plan.changes:
        return "nothing of ours there"
    return (
        "removed, the file with it"
        if plan.after is None
        else f"-{_entries(plan.removed)}, the rest as it was"
    )


def _entries(count: int) -> str:
    return f"{count} entr{'y' if count == 1 else 'ies'}"


def _live_sessions() -> int:
    """Settings take effect in running sessions within seconds; how many those are, if somebody knows."""
    try:
        sessions = printing.client(autostart=False).get("/v1/sessions")["sessions"]
    except (ClientFault, KeyError):
        return 0
    return sum(each.get("agent") == AGENT and each.get("liveness") == "alive" for each in sessions)


def standings() -> "list[Standing]":
    """How it stands in each place of the agent."""
    from headcount.agents.claude_code import hooks

    places = Places.from_environ(os.environ)
    return [hooks.standing(root, Path(places.mailbox)) for root in _roots(places)]


def _status(*, as_json: bool) -> int:
    found = standings()
    if as_json:
        printing.print_document({"files": [_standing_document(each) for each in found]})
    else:
        printing.print_lines([_standing_line(each) for each in found])
    return codes.FAULT if any(each.state.value == "unreadable" for each in found) else codes.DONE


def _standing_line(standing: "Standing") -> str:
    count = f" ({standing.events} of {standing.wanted} events)" if standing.events else ""
    note = f"; {clean(standing.note)}" if standing.note else ""
    if standing.state.value == "unreadable":
        note += ". Nothing is written to it until it is mended."
    asks = f"; asks: {', '.join(standing.asks)}" if standing.asks else ""
    return f"{SHORT:<9} {_home(standing.settings)}   {standing.state.value}{count}{asks}{note}"


def _standing_document(standing: "Standing") -> dict[str, Any]:
    return {
        "agent": AGENT,
        "path": str(standing.settings),
        "state": standing.state.value,
        "events": standing.events,
        "wanted": standing.wanted,
        "note": standing.note or None,
        "asks": list(standing.asks),
    }


def _document(outcome: "Plan | Refusal") -> dict[str, Any]:
    from headcount.agents.settings_file import Refusal

    if isinstance(outcome, Refusal):
        return {"agent": AGENT, "path": str(outcome.path), "refused": outcome.why, "line": outcome.line}
    return {
        "agent": AGENT,
        "path": str(outcome.settings),
        "changed": outcome.changes,
        "added": outcome.added,
        "renewed": outcome.renewed,
        "removed": outcome.removed,
    }


def _home(path: Path) -> str:
    home = str(Path.home())
    shown = str(path)
    return clean("~" + shown[len(home) :] if shown.startswith(home + "/") else shown)
