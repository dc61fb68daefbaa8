"""`headcount explain S`: what is believed, on which evidence, from which source, how old, and which lost.

Rules of this file
  1. Evidence that lost is shown below what stands, with the reason.
  2. A report for others (`--bundle`) is redacted before anything of it is written.

Not here: the judging (the daemon's; this only lays it out), the report (bundle.py).
"""

import time
from typing import TYPE_CHECKING, Any

from headcount.cli import moments, printing, rows
from headcount.cli.sanitize import clean, pad, said, width
from headcount.client.faults import WrongCall
from headcount.client.reach import quoted
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

PHRASES = {
    "permission": "waiting for permission",
    "question": "waiting for an answer",
    "plan": "waiting for its plan to be accepted",
    "limit": "stopped by a limit",
    "error": "stopped by an error",
}


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")
    parser.add_argument(
        "--bundle",
        metavar="FILE",
        nargs="?",
        const=True,
        help="write a redacted report of a wrong row, to be sent to others; - prints it",
    )
    parser.add_argument(
        "--paths", action="store_true", help="with --bundle: whole paths, not their last part"
    )


def run(args: Any) -> int:
    if args.bundle == "":
        raise WrongCall("headcount: no file was named; without a name --bundle makes one up.")
    if args.paths and args.bundle is None:
        raise WrongCall("headcount: --paths is of a report: explain S --bundle --paths")
    client = printing.client()
    explanation = client.get(f"/v1/sessions/{quoted(args.session)}/explain")
    if args.bundle is not None:
        return _bundle(client, explanation, args)
    if args.json:
        printing.print_document(explanation)
    else:
        printing.print_lines(lines_of(explanation, time.time()))
    return codes.DONE


def _bundle(client: Any, explanation: dict[str, Any], args: Any) -> int:
    import json

    from headcount.cli import bundle

    report = bundle.collect(client, explanation, paths=args.paths)
    text = json.dumps(report, indent=2) + "\n"
    if args.bundle == "-":
        print(text, end="")
        return codes.DONE
    path = bundle.write(
        text, None if args.bundle is True else args.bundle, clean(explanation["session"].get("id"))
    )
    if args.json:
        printing.print_document({"path": path})
    else:
        printing.print_lines([f"{clean(path)}   {report['redacted']}.", "Read it before you send it."])
    return codes.DONE


def lines_of(explanation: dict[str, Any], now: float) -> list[str]:
    raw = explanation["session"]
    return [
        _headline(raw, now),
        *_evidence(explanation, now),
        _process(explanation.get("binding") or {}),
        *_context(explanation.get("context")),
        *(f"! {clean(alarm)}" for alarm in raw.get("alarms") or ()),
        _closing(explanation),
    ]


def _headline(raw: dict[str, Any], now: float) -> str:
    who = said(raw.get("name")) or clean(raw.get("id"))[: rows.SHORTEST_ID]
    if raw.get("liveness") == "ended":
        return f"{who} is ENDED: {rows.state_of(raw, now)}."
    word = rows.activity_word(raw)
    return f"{who} is {clean(raw.get('liveness')).upper()}, {PHRASES.get(word, word)}."


def _evidence(explanation: dict[str, Any], now: float) -> list[str]:
    evidence = [
        line
        for part in ("liveness", "activity", "binding")
        for line in (explanation.get(part) or {}).get("evidence") or ()
    ]
    cells = [
        (clean(e.get("says")), clean(e.get("because")), clean(e.get("source")), _age(e, now))
        for e in evidence
    ]
    widths = [max((width(row[column]) for row in cells), default=0) for column in range(3)]
    lines = []
    for line, row in zip(evidence, cells, strict=True):
        columns = [pad(text, cells_wide) for text, cells_wide in zip(row[:3], widths, strict=True)]
        lines.append("  " + "  ".join([*columns, row[3]]).rstrip())
        if not line.get("stands"):
            lines.append(
                f"  {' ' * widths[0]}  not taken: {clean(line.get('why_not')) or 'newer evidence stands'}"
            )
    return lines


def _age(evidence: dict[str, Any], now: float) -> str:
    at = moments.parse(evidence.get("at"))
    if at is None:
        return "now" if evidence.get("source") == "kernel" else "-"
    return "now" if now - at < 1 else moments.exact_span(now - at)


def _process(binding: dict[str, Any]) -> str:
    return f"Process: {clean(binding.get('value'))}, {clean(binding.get('because'))}."


def _context(context: dict[str, Any] | None) -> list[str]:
    if not context:
        return []
    return [f"Starting context: {clean(context.get('value'))}, {clean(context.get('because'))}."]


def _closing(explanation: dict[str, Any]) -> str:
    change = ", ".join(clean(word) for word in explanation.get("would_change") or ())
    if explanation["session"].get("liveness") == "ended":
        return f"Would change it: {change}." if change else "Nothing changes it any more."
    agree = (
        "Sources agree."
        if explanation.get("agree")
        else "Sources disagree; the newest that may speak stands."
    )
    return f"{agree} Would change it: {change}." if change else f"{agree} Nothing changes it any more."
