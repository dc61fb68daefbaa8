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
    return "\n\n".join(part for path in (first, *others) if (part := _messages_of(path)))


def _messages_of(path: Path) -> str:
    text = path.read_text("utf-8")
    lines = text.splitlines()
    parts = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            rows = [
                [code(each.target.id), code(ast.unparse(each.annotation)), _remark(lines[each.lineno - 1])]
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            parts.append(f"### {node.name}\n\n{table(['field', 'type', ''], rows)}")
    return "\n\n".join(parts)


def _remark(line: str) -> str:
    return line.partition("  # ")[2].strip()


def event_types() -> str:
    return table(["type", "what became true"], ([code(each.value), EVENT_WORDS[each]] for each in EventType))


def exit_codes() -> str:
    text = (SRC / "wire" / "exit_codes.py").read_text("utf-8")
    found = re.findall(r"^([A-Z_]+): Final = (\d+)(?:  # (.*))?$", text, re.MULTILINE)
    by_exit: dict[int, list[int]] = {}
    for status, number in wire_exit_codes.EXIT_BY_STATUS.items():
        by_exit.setdefault(number, []).append(status)
    rows = (
        [number, name.lower().replace("_", " "), why, ", ".join(map(str, by_exit.get(int(number), ())))]
        for name, number, why in found
    )
    return table(["code", "means", "", "HTTP statuses"], rows)


def error_codes() -> str:
    return table(
        ["code", "status"], ([code(name), ", ".join(map(str, each))] for name, each in REFUSALS.items())
    )


CLAIM_WORDS = {
    "granted": "It is the caller's now.",
    "again": "It was the caller's already: the same fence.",
    "under": "An agent above the caller holds it; the caller works under that claim.",
    "held": "Another holds it, or others wait for it; `holder` and `because` say who.",
    "dead": "The process that was to hold it is over.",
    "loss-not-accepted": "A store was lost; the operator accepts that first (`claims --accept-loss`).",
    "no-such-heir": "The session that it was to be handed to has no living process.",
    "not-an-agent": "Nobody who could hold a claim is calling.",
    "not-held": "Nobody holds it (404).",
    "not-yours": "Another holds it, and only the holder gives it back or hands it off.",
    "operator-only": "For people (403).",
    "overlaps": "It overlaps another claim, which stays with its holder.",
    "request-over": "That request was granted, and its claim is over. A new one takes a new id.",
    "too-many-claims": "One process holds as many claims as it may. Release some first.",
    "request-reused": "That request id belongs to another's claim.",
    "request-withdrawn": "Its caller gave that request up. A new one takes a new id.",
    "stale": "The fence is not the current one.",
    "still-running": "Its last holder died and its processes still run, and it was asked to stay closed until they end.",
    "unverified": "The process could not be proved alive; doubt is granted nothing.",
}


def claim_codes() -> str:
    return table(["code", "what"], ([code(name), words] for name, words in CLAIM_WORDS.items()))


def codes_of_claims() -> set[str]:
    """Every code that the core refuses a claim with, found in its own source."""
    found = set()
    for path in sorted((SRC / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ClaimRefused":
                assert isinstance(node.args[0], ast.Constant), path
                found.add(str(node.args[0].value))
    return found


def metrics() -> str:
    return table(
        ["counter", "what"], ([code(f"headcount_{name}_total"), text] for name, text in COUNTERS.items())
    )


# --- the command line --------------------------------------------------------------------------------


def verbs() -> str:
    return table(["verb", "what for"], ([code(verb.name), verb.help] for verb in VERBS.values()))


def commands() -> str:
    parts = []
    for name, verb in VERBS.items():
        parser = parser_of(verb, import_module(f"headcount.cli.commands.{name}"))
        rows = [
            _argument(action)
            for action in parser._actions
            if action.help != argparse.SUPPRESS and action.dest != "help"
        ]
        note = (parser.epilog or "").partition("examples:")[0].strip()
        examples = "\n".join(verb.examples)
        head = f"## headcount {name}\n\n{verb.help[:1].upper()}{verb.help[1:]}."
        parts.append(
            "\n\n".join(
                part
                for part in (head, table(["argument", "what"], rows), note, f"```\n{examples}\n```")
                if part
            )
        )
    return "\n\n".join(parts)


def _argument(action: argparse.Action) -> list[str]:
    names = list(action.option_strings) or [str(action.metavar or action.dest)]
    choices = f" ({', '.join(map(str, action.choices))})" if action.choices else ""
    value = f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
    required = " (required)" if action.required and action.option_strings else ""
    return [
        ", ".join(f"`{name}{value}`" for name in names),
        f"{action.help or ''}{choices}{required}".strip(),
    ]


def settings() -> str:
    rows = (
        [
            code(each.name),
            code(_plain(each.default)),
            each.meaning,
            code(each.variable) if each.variable else "",
        ]
        for each in SETTINGS
    )
    return table(["setting", "default", "meaning", "variable, which wins"], rows)


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return str(list(value))
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def hook_events(events: HookTable) -> str:
    rows = ([code(row.name), row.use.value, row.since or "", row.why] for row in events.values())
    return table(["event", "use", "since", "why"], rows)


# --- the track record --------------------------------------------------------------------------------


def tests_in(directory: Path) -> dict[str, list[str]]:
    """The tests of each file below a directory, by the file's path in the project."""
    found = {}
    for path in sorted(directory.rglob("test_*.py")):
        names = [
            node.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        ]
        found[str(path.relative_to(ROOT))] = sorted(names)
    return found


def accidents() -> str:
    listed = tomllib.loads((ROOT / "docs" / "accidents.toml").read_text("utf-8"))["accident"]
    named = [
        (_accident_of(name), f"{path}::{name}")
        for path, names in tests_in(ROOT / "tests" / "accidents").items()
        for name in names
    ]
    rows = []
    for each in listed:
        tests = [f"named: `{test}`" for id, test in named if id == each["id"]]
        tests += [f"also: `{test}`" for test in each["also"]]
        waits = (
            ""
            if any(test.startswith("named") for test in tests)
            else f"named test waits for {each['milestone']}"
        )
        proof = "<br>".join([*tests, *([waits] if waits else [])])
        rows.append([each["id"], each["happened"], each["holds"], proof])
    return table(["id", "what happened", "what holds here", "tests"], rows)


def _accident_of(test: str) -> str:
    """`test_H9_…` is of H9, `test_saga_07_…` of saga 7."""
    _, first, second, *_ = test.split("_")
    return f"saga {int(second)}" if first == "saga" else first.upper()


# --- writing -----------------------------------------------------------------------------------------

PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"verbs": verbs},
    "docs/liveness.md": {
        "liveness-diagram": liveness_diagram,
        "liveness-table": liveness_table,
        "liveness-words": liveness_words,
    },
    "docs/activity.md": {
        "activity-by-turn": activity_by_turn,
        "activity-by-status": activity_by_status,
        "activity-contest": activity_contest,
    },
    "docs/protocol.md": {
        "routes": routes,
        "messages": messages,
        "event-types": event_types,
        "exit-codes": exit_codes,
        "error-codes": error_codes,
        "claim-codes": claim_codes,
        "metrics": metrics,
    },
    "docs/cli.md": {"commands": commands, "settings": settings},
    "docs/claude-code.md": {"hook-events": partial(hook_events, claude_code.EVENTS)},
    "docs/codex.md": {"codex-events": partial(hook_events, codex.EVENTS)},
    "docs/opencode.md": {"opencode-events": partial(hook_events, opencode.EVENTS)},
    "docs/gemini.md": {"gemini-events": partial(hook_events, gemini.EVENTS)},
    "docs/trackrecord.md": {"accidents": accidents},
}


def renewed(document: str) -> str:
    """The document's text with every generated part as the code now says."""
    text = (ROOT / document).read_text("utf-8")
    for name, make in PARTS[document].items():
        marks = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        if len(marks.findall(text)) != 1:
            raise SystemExit(f"{document} must have the marks of {name} once")
        made = f"\n{make()}\n\n"
        text = marks.sub(lambda match, made=made: match.group(1) + made + match.group(2), text)
    return text


def main() -> None:
    for document in PARTS:
        (ROOT / document).write_text(renewed(document), "utf-8")
    views = run_path(str(ROOT / "docs" / "generate_views.py"))
    views["STUB"].write_text(views["stub"](), "utf-8")


if __name__ == "__main__":
    main()
