"""Write the lines of `explain`: what Headcount believes about a session, and on which evidence.

Not here: weighing the evidence (daemon/views/explain.py), asking for it (cli/commands/explain.py).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, pad, said, width
from headcount.present import session_words, time_text

if TYPE_CHECKING:
    from headcount.wire.views import Belief, EvidenceLine, Explanation, SessionRow

PHRASES = {
    "permission": "waiting for permission",
    "question": "waiting for an answer",
    "plan": "waiting for its plan to be accepted",
    "limit": "stopped by a limit",
    "error": "stopped by an error",
}


def lines_of(explanation: "Explanation", now: float) -> list[str]:
    raw = explanation["session"]
    return [
        _headline(raw, now),
        *_evidence(explanation, now),
        _process(explanation.get("binding") or {}),
        *_context(explanation.get("context")),
        *(f"! {clean(alarm)}" for alarm in raw.get("alarms") or ()),
        _closing(explanation),
    ]


def _headline(raw: "SessionRow", now: float) -> str:
    who = said(raw.get("name")) or clean(raw.get("id"))[: session_words.SHORTEST_ID]
    if raw.get("liveness") == "ended":
        return f"{who} is ENDED: {session_words.state_of(raw, now)}."
    word = session_words.activity_word(raw)
    return f"{who} is {clean(raw.get('liveness')).upper()}, {PHRASES.get(word, word)}."


def _evidence(explanation: "Explanation", now: float) -> list[str]:
    evidence = [
        line
        for part in (explanation.get("liveness"), explanation.get("activity"), explanation.get("binding"))
        for line in (part or {}).get("evidence") or ()
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


def _age(evidence: "EvidenceLine", now: float) -> str:
    at = time_text.parse(evidence.get("at"))
    if at is None:
        return "now" if evidence.get("source") == "kernel" else "-"
    return "now" if now - at < 1 else time_text.exact_span(now - at)


def _process(binding: "Belief") -> str:
    return f"Process: {clean(binding.get('value'))}, {clean(binding.get('because'))}."


def _context(context: "Belief | None") -> list[str]:
    if not context:
        return []
    return [f"Starting context: {clean(context.get('value'))}, {clean(context.get('because'))}."]


def _closing(explanation: "Explanation") -> str:
    change = ", ".join(clean(word) for word in explanation.get("would_change") or ())
    if explanation["session"].get("liveness") == "ended":
        return f"Would change it: {change}." if change else "Nothing changes it any more."
    agree = (
        "Sources agree."
        if explanation.get("agree")
        else "Sources disagree; the newest that may speak stands."
    )
    return f"{agree} Would change it: {change}." if change else f"{agree} Nothing changes it any more."
