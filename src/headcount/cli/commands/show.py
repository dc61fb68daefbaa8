"""`headcount show S`: everything known of one session, and where each fact comes from.

Rules
  1. A fact that nobody gave is left out. Beside each: its source, and how old its word is.

Not here: on which evidence (explain.py).
"""

import time
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean, pad, said_item, width
from headcount.cli import output
from headcount.client.daemon_access import quoted
from headcount.present import session_words, table, time_text
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import FactSource, SessionDetail

TEXT_CELLS = 44  # texts longer than this do not push the sources of the others out of sight


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("session", metavar="S", help="an id, the beginning of one, or a name")


def run(args: "VerbArguments") -> int:
    raw: SessionDetail = output.client().get(f"/v1/sessions/{quoted(args.session)}")
    if args.json:
        output.print_document(raw)
    else:
        output.print_lines(lines_of(raw, time.time()))
    return exit_codes.DONE


def lines_of(raw: "SessionDetail", now: float) -> list[str]:
    row = session_words.row_of(raw, str(raw.get("id")), now)
    sources = raw.get("sources") or {}
    facts = [fact for fact in (*_now(raw, row, now), *_about(raw, row, now), *_ended(raw, now)) if fact.text]
    told = [_source(sources, fact.field, now) for fact in facts]
    cells = max((width(fact.text) for fact in facts if width(fact.text) <= TEXT_CELLS), default=0)
    lines = [row.name if row.name != "-" else row.full_id]
    for fact, source in zip(facts, told, strict=True):
        text = pad(fact.text, cells) if source and width(fact.text) <= cells else fact.text
        lines.append(f"  {fact.title:<13}{text}  {source}".rstrip())
    lines += [f"  ! {alarm}" for alarm in row.alarms]
    return lines


class Fact(NamedTuple):
    title: str
    text: str
    field: str = ""  # whose source is shown beside it


def _now(raw: "SessionDetail", row: session_words.Row, now: float) -> list[Fact]:
    background = [
        " ".join(part for part in (clean(work.get("kind")), clean(work.get("label"))) if part)
        for work in raw.get("background") or ()
    ]
    return [
        Fact("id", row.full_id),
        Fact("state", f"{row.state} for {row.age}", "ended" if raw.get("ended") else "activity"),
        Fact("liveness", row.liveness, "liveness"),
        Fact("doing", row.doing, "doing"),
        Fact("background", ", ".join(background)),
        Fact("claims", ", ".join(said_item(claim) for claim in raw.get("claims") or ())),
    ]


def _about(raw: "SessionDetail", row: session_words.Row, now: float) -> list[Fact]:
    def plain(title: str, field: str) -> Fact:
        return Fact(title, clean(raw.get(field)), field)

    return [
        plain("agent", "agent"),
        plain("version", "version"),
        plain("process", "pid"),
        plain("conversation", "conversation"),
        plain("title", "title"),
        plain("directory", "cwd"),
        Fact("repository", row.repo if session_words.is_in_repo(raw) else "", "repo"),
        plain("worktree", "worktree"),
        Fact("terminal", "" if row.where == "-" else row.where),
        plain("model", "model"),
        Fact("context", table.context(raw), "context_tokens"),
        Fact("tokens", table.tokens(raw), "tokens"),
        Fact("cost", table.cost(raw), "cost_usd"),
        plain("permissions", "permission_mode"),
        plain("entrypoint", "entrypoint"),
        plain("role", "role"),
        Fact("groups", ", ".join(clean(group) for group in raw.get("groups") or ()), "groups"),
        plain("started by", "parent"),
        plain("continues", "predecessor"),
        Fact("started", _moment(raw.get("started_at"), now)),
        Fact("last heard", _moment(raw.get("last_event_at"), now)),
        plain("transcript", "transcript"),
        plain("resume", "resume"),
    ]


def _ended(raw: "SessionDetail", now: float) -> list[Fact]:
    ended = raw.get("ended") or {}
    if not ended:
        return []
    code = ended.get("exit_code")
    return [
        Fact("ended", _moment(ended.get("at"), now), "ended"),
        Fact("because", clean(ended.get("because"))),
        Fact("exit code", "" if code is None else clean(code)),
        Fact("signal", clean(ended.get("signal"))),
        Fact("continued as", clean(ended.get("successor"))),
    ]


def _source(sources: "dict[str, FactSource]", field: str, now: float) -> str:
    """`hook, 4m12s`."""
    told = sources.get(field)
    if not isinstance(told, dict):
        return ""
    at = time_text.parse(told.get("at"))
    return clean(told.get("source")) + ("" if at is None else f", {time_text.exact_span(now - at)}")


def _moment(stamp: object, now: float) -> str:
    at = time_text.parse(stamp)
    if at is None:
        return ""
    ago = f"{time_text.exact_span(now - at)} ago" if at <= now else f"in {time_text.exact_span(at - now)}"
    return f"{time_text.clock(at, now)} ({ago})"
