"""`headcount claims`: who holds what; what became of an item; going on after a lost store.

Rules
  1. The table is of what is held now, the oldest first. --json is the wire's own document.
  2. Items are written so that they can be copied into a command.
  3. Who waits is counted where anybody does. A lost store is said before the table: it knows less than was held.

Not here: words for a holder (present/holders.py).
"""

import time
from typing import TYPE_CHECKING

from headcount.clean_text import clean, cut, cut_middle, is_word, pad, said_item, width, word_of_command
from headcount.cli import output
from headcount.client import claims
from headcount.client.daemon_access import DaemonAccess
from headcount.present import time_text
from headcount.present.screen import Screen, standard
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import ClaimHistory, ClaimRow, Claims, LossAccepted, Sessions

TITLES = ("ITEM", "CLAIM", "HOLDER", "FOR", "WAITING", "NOTE")
WAITING_AT = TITLES.index("WAITING")
NOTE_LEAST = 8
ITEM_LEAST = 16
GAP = "  "
QUOTE = "'"


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("--history", metavar="ITEM", help="who had that item, and how it went")
    parser.add_argument(
        "--accept-loss",
        action="store_true",
        help="after a lost store: grant again, though earlier holders are not known (people only)",
    )


def run(args: "VerbArguments") -> int:
    client = output.client()
    if args.accept_loss:
        return _accept(client, as_json=args.json)
    found = claims.ask(client, claims.held(args.history))
    if args.json:
        output.print_document(found)
    elif args.history:
        output.print_lines(history_lines(found, args.history, time.time()))
    else:
        answer: Claims = found
        listed, lost = answer.get("claims") or [], loss_lines(answer)
        names = _names(client) if listed else {}
        rows = table(listed, names, time.time(), standard()) if listed or not lost else []
        output.print_lines([*lost, *rows])
        for line in doubts(answer):
            output.note(line)
    return exit_codes.DONE


def _accept(client: DaemonAccess, *, as_json: bool) -> int:
    answer: LossAccepted = client.post("/v1/claims/accept-loss")
    if as_json:
        output.print_document(answer)
    elif not answer.get("loss"):
        print("No store was lost; there is nothing to accept.")
    else:
        print("Claims are granted again. Who held what before the loss is not known: ask your agents.")
    return exit_codes.DONE


def _names(client: DaemonAccess) -> dict[str, str]:
    found: Sessions = client.get("/v1/sessions?all=1")
    return {str(row.get("id")): clean(row.get("name")) for row in found.get("sessions") or ()}


def table(claims: "list[ClaimRow]", names: dict[str, str], now: float, screen: Screen) -> list[str]:
    if not claims:
        return ["Nothing is claimed."]
    ordered = sorted(
        claims, key=lambda claim: (time_text.parse(claim.get("since")) or now, str(claim.get("item")))
    )
    rows = [TITLES, *(_row(claim, names, now) for claim in ordered)]
    if not any(claim.get("waiting") for claim in ordered):
        rows = [(*row[:WAITING_AT], *row[WAITING_AT + 1 :]) for row in rows]
    if screen.columns is None:
        return _drawn(rows)
    rows = _fitting(rows, screen.columns, screen.dots)
    return [cut(line, screen.columns, screen.dots) for line in _drawn(rows)]


def _fitting(rows: list[tuple[str, ...]], columns: int, dots: str) -> list[tuple[str, ...]]:
    """Notes give way first, then the middle of items, then the numbers."""
    if (over := _wide(rows) - columns) > 0:
        notes = max(width(row[-1]) for row in rows) - over
        kept = [(cut(row[-1], notes, dots),) if notes >= NOTE_LEAST else () for row in rows]
        rows = [(*row[:-1], *note) for row, note in zip(rows, kept, strict=True)]
    if (over := _wide(rows) - columns) > 0:
        items = max(ITEM_LEAST, max(width(row[0]) for row in rows) - over)
        rows = [(_cut_item(row[0], items, dots), *row[1:]) for row in rows]
    return [(row[0], *row[2:]) for row in rows] if _wide(rows) > columns else rows


def _cut_item(item: str, cells: int, dots: str) -> str:
    """What is left of a quoted one is in quotes too, and no shell acts on it."""
    if is_word(item) or width(item) <= cells:
        return cut_middle(item, cells, dots)
    return f"'{cut_middle(item.replace(QUOTE, ''), cells - 2 * len(QUOTE), dots)}'"


def _widths(rows: list[tuple[str, ...]]) -> list[int]:
    return [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]


def _wide(rows: list[tuple[str, ...]]) -> int:
    widths = _widths(rows)
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _drawn(rows: list[tuple[str, ...]]) -> list[str]:
    widths = _widths(rows)
    return [
        GAP.join(pad(cell, cells) for cell, cells in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(claim: "ClaimRow", names: dict[str, str], now: float) -> tuple[str, ...]:
    from headcount.present.holders import is_elsewhere, name_of

    holder = claim.get("holder") or {}
    since = time_text.parse(claim.get("since"))
    return (
        word_of_command(str(claim.get("item"))),
        f"#{clean(claim.get('fence'))}",
        name_of(holder, {} if is_elsewhere(holder) else {"name": names.get(str(holder.get("session")))}),
        "-" if since is None else time_text.span(now - since),
        clean(claim.get("waiting") or "-"),
        clean(claim.get("note")),
    )


def loss_lines(answer: "Claims") -> list[str]:
    """Of a store that was lost, until a person accepts it: an empty list proves nothing."""
    if not answer.get("loss"):
        return []
    return [
        f"A store was lost ({clean(answer['loss'])}): who held what before is not known.",
        "Nothing is granted until a person accepts that: headcount claims --accept-loss",
    ]


def doubts(answer: "Claims") -> list[str]:
    """Of shared claims: what nobody vouches for now, and that the list may lack some."""
    rows = [row for row in answer.get("claims") or () if row.get("vouched") is False]
    if answer.get("fleet"):
        because = clean(answer["fleet"]).rstrip(".")
        return [f"The fleet's claims cannot be read now ({because}): only those of this host are listed."]
    return [_doubt(row) for row in rows]


def _doubt(row: "ClaimRow") -> str:
    host = clean((row.get("holder") or {}).get("host")) or "its host"
    left = row.get("free_in_s")
    when = f"in {time_text.span(float(left))}" if left else "to whoever asks"
    return f"{said_item(row.get('item'))} is in doubt: {host} is not heard of. It is free {when}, unless {host} comes back."


def history_lines(answer: "ClaimHistory", item: str, now: float) -> list[str]:
    from headcount.present.holders import name_of

    lines = []
    for event in answer.get("history") or ():
        at = time_text.parse(event.get("at"))
        when = "-" if at is None else time_text.clock(at, now)
        what = clean(event.get("type")).removeprefix("claim.")
        because = clean(event.get("because"))
        lines.append(
            f"{when}  {what:<9} #{clean(event.get('fence'))}  {name_of(event.get('holder'))}"
            + (f"  ({because})" if because else "")
        )
    return lines or [f"{said_item(item)} was never claimed, as far back as the journal goes."]
