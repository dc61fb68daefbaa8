"""Which settings files of which agents get hooks, how each stands, and the lines that `headcount hooks` prints.

Rules
  1. One file, one line: the agent, the file, what was done.
  2. What the user still has to do (trust the hooks, restart a session) is in that line.

Not here: the change itself (agents/installing/), the verb (commands/hooks.py).
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    from headcount.agents.installing.file_change import FileChange, HookFiles, HookState
    from headcount.agents.installing.settings_file import Refusal
    from headcount.agents.interface import Agent

Live = dict[str, list[str]]

FIRST = "claude-code"


def outcome_lines(
    action: str, outcomes: "list[tuple[Agent, FileChange | Refusal]]", live: Live, *, dry: bool
) -> list[str]:
    from headcount.agents.installing.file_change import FileChange

    width = max((len(home(each.settings)) for _, each in outcomes if isinstance(each, FileChange)), default=0)
    lines = []
    for agent, outcome in outcomes:
        if not isinstance(outcome, FileChange):
            lines.append(_refused(outcome))
        elif dry:
            lines += _shown(outcome)
        else:
            said = _installed(agent, outcome, live) if action == "install" else _uninstalled(outcome)
            lines.append(f"{clean(agent.label):<9} {home(outcome.settings):<{width}}   {said}")
    return lines


def _refused(refusal: "Refusal") -> str:
    where = f" line {refusal.line}, column {refusal.column}" if refusal.line else ""
    return f"{home(refusal.path)}{where}: {clean(refusal.why)}. Nothing written; mend it and try again."


def _shown(plan: "FileChange") -> list[str]:
    from headcount.agents.installing.file_change import diff

    shown = [clean(row) for row in diff(plan).splitlines()]
    return shown or [f"{home(plan.settings)}: nothing would change."]


def _installed(agent: "Agent", plan: "FileChange", live: Live) -> str:
    note = clean(plan.note)
    if not plan.changes:
        return f"already installed, {note or 'nothing written'}"
    if note:
        return f"written, {note}"
    below = f"{plan.settings.parent}/"  # who keeps its conversations elsewhere reads other settings
    alive = sum(transcript.startswith(below) for transcript in live.get(agent.name, ()))
    lives = f"; live in {alive} session{'s' if alive != 1 else ''}" if alive else ""
    if plan.before is None:
        return f"written, {_entries(plan.added)}{lives}" if plan.added else f"written{lives}"
    parts = [f"+{_entries(plan.added)}"] if plan.added else []
    parts += [f"{plan.renewed} brought up to date"] if plan.renewed else []
    parts += [f"{plan.removed} of an earlier version removed"] if plan.removed else []
    return ", ".join([*parts, "yours untouched"]) + lives


def _uninstalled(plan: "FileChange") -> str:
    if not plan.changes:
        return "nothing of ours there"
    return (
        "removed, the file with it"
        if plan.after is None
        else f"-{_entries(plan.removed)}, the rest as it was"
    )


def _entries(count: int) -> str:
    return f"{count} entr{'y' if count == 1 else 'ies'}"


def standing_lines(found: "list[tuple[Agent, HookState]]") -> list[str]:
    width = max((len(home(each.settings)) for _, each in found), default=0)
    return [_standing_line(agent, standing, width) for agent, standing in found]


def _standing_line(agent: "Agent", standing: "HookState", width: int) -> str:
    count = f" ({standing.events} of {standing.wanted} events)" if standing.events else ""
    notes = "".join(f"; {clean(note)}" for note in (standing.inactive, standing.note) if note)
    if standing.state.value == "unreadable":
        notes += ". Nothing is written to it until it is mended."
    asks = f"; asks: {', '.join(standing.asks)}" if standing.asks else ""
    where = f"{clean(agent.label):<9} {home(standing.settings):<{width}}"
    return f"{where}   {standing.state.value}{count}{asks}{notes}"


def standing_document(agent: "Agent", standing: "HookState") -> dict[str, object]:
    return {
        "agent": agent.name,
        "path": str(standing.settings),
        "state": standing.state.value,
        "events": standing.events,
        "wanted": standing.wanted,
        "note": standing.note or None,
        "inactive": standing.inactive or None,
        "asks": list(standing.asks),
    }


def document(agent: "Agent", outcome: "FileChange | Refusal") -> dict[str, object]:
    from headcount.agents.installing.file_change import FileChange

    if not isinstance(outcome, FileChange):
        refused = {"refused": outcome.why, "line": outcome.line}
        return {"agent": agent.name, "path": str(outcome.path), **refused}
    return {
        "agent": agent.name,
        "path": str(outcome.settings),
        "changed": outcome.changes,
        "added": outcome.added,
        "renewed": outcome.renewed,
        "removed": outcome.removed,
        "note": outcome.note or None,
    }


def home(path: Path) -> str:
    above, shown = str(Path.home()), str(path)
    return clean("~" + shown[len(above) :] if shown.startswith(above + "/") else shown)


class HookTarget(NamedTuple):
    """One agent's settings in one of its places."""

    agent: "Agent"
    hooks: "HookFiles"
    root: Path


def standings() -> "list[HookState]":
    """How it stands in each place of each agent that is here."""
    return [standing for _, standing in labelled_standings()]


def labelled_standings() -> "list[tuple[str, HookState]]":
    places = Places.from_environ(os.environ)
    return [(agent.label, standing) for agent, standing in _standings(_targets(places, None), places)]


def _targets(places: Places, only: str | None) -> list[HookTarget]:
    from headcount.agents.catalog import AGENTS

    able = {name: agent for name, agent in AGENTS.items() if agent.hooks is not None}
    if only is not None and only not in able:
        only = next((name for name, agent in able.items() if agent.label == only), only)
    if only is not None and only not in able:
        raise _NoSuchAgent(only, list(able))
    found = [target for agent in able.values() for target in _of(agent, places)]
    if only is not None:
        return [each for each in found if each.agent.name == only]
    return [each for each in found if _is_here(each)] or [each for each in found if each.agent.name == FIRST]


def _of(agent: "Agent", places: Places) -> list[HookTarget]:
    hooks = agent.hooks
    assert hooks is not None
    roots = hooks.roots(os.environ, Path.home())
    if agent.name == FIRST:
        roots = [*roots, *_more_roots(places)]
    return [HookTarget(agent, hooks, root) for root in dict.fromkeys(roots)]


def _more_roots(places: Places) -> list[Path]:
    from headcount.daemon.config import BadSetting, Config

    try:
        more = Config.read(Path(places.config), os.environ).claude_roots
    except BadSetting as error:
        raise ClientFault(str(error)) from error
    return [Path(each).expanduser() for each in more]


def _is_here(target: HookTarget) -> bool:
    return target.root.is_dir() or any(shutil.which(program) for program in target.hooks.programs)


def _asks(hooks: "HookFiles") -> bool:
    return bool(getattr(hooks, "questions", None))


class _NoSuchAgent(ClientFault):
    exit_code = exit_codes.USAGE

    def __init__(self, asked: str, known: list[str]) -> None:
        super().__init__(f'"{clean(asked)}" has no hooks here. Known: {", ".join(known)}.', None)


def _standings(targets: list[HookTarget], places: Places) -> "list[tuple[Agent, HookState]]":
    from headcount.agents.installing.hook_line_mailbox import directory_of

    return [
        (each.agent, each.hooks.standing(each.root, directory_of(Path(places.mailbox), each.agent.name)))
        for each in targets
    ]
