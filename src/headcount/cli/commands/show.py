"""`headcount show S`: everything known of one session.

Not here: on which evidence (explain.py).
"""

import time
from typing import TYPE_CHECKING, Any

from headcount.cli import moments, printing, rows
from headcount.cli.sanitize import clean
from headcount.client.reach import quoted
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")


def run(args: Any) -> int:
    raw = printing.client().get(f"/v1/sessions/{quoted(args.session)}")
    if args.json:
        printing.print_document(raw)
    else:
        printing.print_lines(lines_of(raw, time.time()))
    return codes.DONE


def lines_of(raw: dict[str, Any], now: float) -> list[str]:
    row = rows.row_of(raw, str(raw.get("id")), now)
    background = [
        " ".join(part for part in (clean(work.get("kind")), clean(work.get("label"))) if part)
        for work in raw.get("background") or ()
    ]
    facts = [
        ("id", row.full_id),
        ("state", f"{row.state} for {row.age}"),
        ("liveness", row.liveness),
        ("doing", row.doing),
        ("background", ", ".join(background)),
        ("agent", clean(raw.get("agent"))),
        ("process", clean(raw.get("pid"))),
        ("conversation", clean(raw.get("conversation"))),
        ("directory", clean(raw.get("cwd"))),
        ("repository", row.repo),
        ("terminal", row.where),
        ("model", clean(raw.get("model"))),
        ("permissions", clean(raw.get("permission_mode"))),
        ("started", _moment(raw.get("started_at"), now)),
        ("last heard", _moment(raw.get("last_event_at"), now)),
        ("state from", clean(raw.get("source"))),
        ("role", clean(raw.get("role"))),
        ("groups", ", ".join(clean(group) for group in raw.get("groups") or ())),
        ("claims", ", ".join(clean(claim) for claim in raw.get("claims") or ())),
        ("started by", clean(raw.get("parent"))),
        ("continues", clean(raw.get("predecessor"))),
        *_end_facts(raw.get("ended") or {}, now),
    ]
    lines = [row.name if row.name != "-" else row.full_id]
    lines += [f"  {title:<13}{text}" for title, text in facts if text and text != "-"]
    lines += [f"  ! {alarm}" for alarm in row.alarms]
    return lines


def _end_facts(ended: dict[str, Any], now: float) -> list[tuple[str, str]]:
    if not ended:
        return []
    code = ended.get("exit_code")
    return [
        ("ended", _moment(ended.get("at"), now)),
        ("because", clean(ended.get("because"))),
        ("exit code", "" if code is None else clean(code)),
        ("signal", clean(ended.get("signal"))),
        ("continued as", clean(ended.get("successor"))),
    ]


def _moment(stamp: object, now: float) -> str:
    at = moments.parse(stamp)
    return "" if at is None else f"{moments.clock(at, now)} ({moments.exact_span(now - at)} ago)"
