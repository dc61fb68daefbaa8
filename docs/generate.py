"""The parts of the documents that are drawn from the code: tables, diagrams, lists.

    python docs/generate.py        writes them between their marks

Rules of this file
  1. A part stands between `<!-- generated: name -->` and `<!-- end: name -->`; the rest is a person's.
  2. Nothing is told here that the code does not say, except what a type of event means (EVENT_WORDS).
  3. tests/rules/test_docs.py fails while a committed part differs from what this makes.
"""

import argparse
import ast
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from runpy import run_path

from headcount.agents.claude_code import reports as claude_code
from headcount.agents.codex import reports as codex
from headcount.agents.gemini import reports as gemini
from headcount.agents.kit.hook_events import HookTable
from headcount.agents.opencode import reports as opencode
from headcount.cli.command_table import VERBS
from headcount.cli.options import parser_of
from headcount.core.values.activity import ALL, BY_STATUS, BY_TURN, HELD, HOOK_STANDS, RESTED
from headcount.core.values.events import EventType
from headcount.core.values.session import LIVENESS, REOPENS, Liveness
from headcount.daemon.config import SETTINGS
from headcount.daemon.routes.daemon import COUNTERS
from headcount.daemon.routes.table import ROUTES
from headcount.daemon.views.session_row import LIVENESS_WORDS
from headcount.wire import exit_codes as wire_exit_codes
from headcount.wire.faults import REFUSALS

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "headcount"

EVENT_WORDS = {
    EventType.SESSION_STARTED: "a session is known for the first time",
    EventType.SESSION_BOUND: "its process was learned, or proved again",
    EventType.SESSION_DOUBTED: "its process cannot be asked now; it is not taken for dead",
    EventType.SESSION_ACTIVITY: "what it does, or what it waits on, is another",
    EventType.SESSION_CHANGED: "its name, directory, background work or notes changed",
    EventType.SESSION_HEARD: "a sign of life that changed nothing else",
    EventType.SESSION_LOST: "no process is known, and nothing was heard for long",
    EventType.SESSION_ENDED: "it ended; `session.ended` says how that is known",
    EventType.SESSION_REOPENED: "an end that was only reported was wrong",
    EventType.ALARM_RAISED: "something about it needs a look",
    EventType.ALARM_CLEARED: "and no longer does",
    EventType.HEADCOUNT_STARTED: "the daemon is up; `facts.blind_since` is when anything was last seen before",
    EventType.HEADCOUNT_STOPPED: "the daemon stops in order; from here on nothing is seen",
    EventType.CLAIM_GRANTED: "an item has a holder; `item`, `fence`, `holder`",
    EventType.LEFTOVER_FOUND: "an ended session left this, with the evidence; `leftover`",
    EventType.LEFTOVER_CHANGED: "more is known of a leftover",
    EventType.SESSION_EXAMINED: "what its end freed and left was looked for: facts `freed`, `left`, `resumable`",
    EventType.SESSION_CLOSING: "it has been idle for long and will be closed: facts `idle_since`, `closes_at`",
    EventType.LEFTOVER_GONE: "a leftover is no longer there",
    EventType.ENDING_INTENDED: "a process is about to be signalled, and by whom; stored before the signal is sent",
    EventType.ENDING_FINISHED: "what came of it: exited, killed, survived, or not sent and why",
    EventType.CLAIM_RELEASED: "an item is free; `because` is released, died, forced, handed-off or lease-lost",
    EventType.LOSS_ACCEPTED: "the operator accepted that holders of before the loss are not known",
    EventType.FLEET_JOINED: "claims are shared with other hosts from here on",
    EventType.FLEET_LEFT: "and no longer are",
    EventType.FLEET_AWAY: "the lease of this host is over; shared claims are not vouched for; `facts.because`",
    EventType.FLEET_BACK: "and it is renewed",
    EventType.STORE_LOST: "the store was damaged; `facts.set_aside` names where it is kept",
}


# --- tables ------------------------------------------------------------------------------------------


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(*words: object) -> str:
    return ", ".join(f"`{word}`" for word in words)


# --- liveness and activity ---------------------------------------------------------------------------


def liveness_diagram() -> str:
    lines = [
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> unbound: no process named",
        "    [*] --> alive: process named",
        "    [*] --> doubted: process named, but not here",
    ]
    for before, row in LIVENESS.items():
        for after in dict.fromkeys(row.values()):
            if after is not before:
                words = " or ".join(point.value for point, to in row.items() if to is after)
                lines.append(f"    {before.value} --> {after.value}: {words}")
    for after in dict.fromkeys(REOPENS.values()):
        words = " or ".join(point.value for point, to in REOPENS.items() if to is after)
        lines.append(f"    ended --> {after.value}: {words}, if the end was only reported")
    return "\n".join([*lines, "```"])


def liveness_table() -> str:
    points = list(dict.fromkeys(point for row in LIVENESS.values() for point in row))
    head = ["", *(point.value for point in points)]
    rows = [
        [f"**{state.value}**", *(_to(row.get(point)) for point in points)] for state, row in LIVENESS.items()
    ]
    reopened = ["**ended**, only reported", *(_to(REOPENS.get(point)) for point in points)]
    return table(head, [*rows, reopened])


def _to(state: Liveness | None) -> str:
    return state.value if state is not None else "·"


def liveness_words() -> str:
    return table(
        ["inside", "on the wire"], ([code(state.value), code(word)] for state, word in LIVENESS_WORDS.items())
    )


def activity_by_turn() -> str:
    held = {late: running for running, lates in HELD.items() for late in lates}
    rows = (
        [
            code(turn.value),
            code(doing.value),
            f"does not replace {code(held[turn].value)}" if turn in held else "",
        ]
        for turn, doing in BY_TURN.items()
    )
    return table(["a hook's word", "means", ""], rows)


def activity_by_status() -> str:
    return table(
        ["the registry's word", "means"],
        ([code(word), code(doing.value)] for word, doing in BY_STATUS.items()),
    )


def activity_contest() -> str:
    named = {ALL: "every word", frozenset(): "none", RESTED: code(*sorted(turn.value for turn in RESTED))}
    rows = (
        [code(status), "hook" if hook_newer else "registry", named[stands]]
        for (status, hook_newer), stands in HOOK_STANDS.items()
    )
    return table(["registry says", "newer is", "hook's words that stand against it"], rows)


# --- the wire ----------------------------------------------------------------------------------------


def routes() -> str:
    rows = (
        [
            f"`{route.method} {route.path}`",
            route.summary,
            code(*route.query) if route.query else "",
            code(route.body.__name__) if route.body is not None else route.takes or "",
            route.status,
            _answer(route.answers, route.media),
            ", ".join(
                f"{status} {code(kind.__name__) if kind else 'nothing'}" for status, kind in route.also
            ),
        ]
        for route in ROUTES
    )
    return table(["route", "what", "query", "body", "status", "answer", "or"], rows)


def _answer(message: object, media: str) -> str:
    name = getattr(message, "__name__", None)
    return code(name) if name else (media if media != "application/json" else "JSON")


def messages() -> str:
    """Those that everybody reads first, then the files of single features."""
    first = SRC / "wire" / "sessions.py"
    others = (path for path in sorted(first.parent.glob("*.py")) if path != first)
