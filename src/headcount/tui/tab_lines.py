"""The lines of each tab: agents as `ps` draws them, claims and leftovers as their verbs do.

Rules
  1. Words, order and widths are those of the command line; here they only become lines with keys.
  2. A line is made by its number, so that what nobody sees is never made.
  3. Every foreign string is cleaned before it is measured.

Not here: scrolling and choosing (widgets.py), colours themselves (widgets.py).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean, cut, cut_middle, pad, width, word_of_command
from headcount.present import time_text
from headcount.present.holders import name_of
from headcount.present.leftovers import memory, what_of
from headcount.present.session_words import ASCII_MARKS, MARKS, SHORTEST_ID, Row
from headcount.present.table import ALARM_INDENT, GAP, TITLES, columns_of
from headcount.tui.event_feed import Lists
from headcount.tui.widgets import Line, plain

if TYPE_CHECKING:
    from headcount.wire.views import ClaimRow, LeftoverRow

WIDE = (
    100  # cells; below, the dead have one word, so that the living keep the room: the rest is behind the row
)


class Lines(NamedTuple):
    head: Line
    keys: list[str | None]
    draw: Callable[[int], Line]


def of_agents(rows: Sequence[Row], cells: int, *, unicode: bool = True) -> Lines:
    """The table of `ps`, an alarm as a line of its own below its row."""
    if cells < WIDE:
        rows = [
            row._replace(state=row.state.partition(" ")[0]) if row.group == "ended" else row for row in rows
        ]
    columns = columns_of(rows, cells)
    marks = MARKS if unicode else ASCII_MARKS
    head = "  " + GAP.join(_aligned(column.key, TITLES[column.key], column.cells) for column in columns)
    index: list[tuple[Row, str | None]] = []
    for row in rows:
        index.append((row, None))
        index.extend((row, alarm) for alarm in row.alarms)

    def draw(number: int) -> Line:
        row, alarm = index[number]
        if alarm is not None:
            return [(" " * ALARM_INDENT + cut(f"! {alarm}", max(1, cells - ALARM_INDENT)), "alarm")]
        line: Line = [(f"{marks[row.group]} ", row.colour)]
        for place, column in enumerate(columns):
            text = _aligned(column.key, getattr(row, column.key), column.cells)
            line.append((text, row.colour if column.key == "state" else "plain"))
            if place + 1 < len(columns):
                line.append((GAP, "plain"))
        return line

    keys = [row.full_id if alarm is None else None for row, alarm in index]
    return Lines(plain(head), keys, draw)


def _aligned(key: str, text: str, cells: int) -> str:
    if key == "age":
        return text.rjust(cells)
    return pad((cut_middle if key == "name" else cut)(text, cells), cells)


# --- the other tabs --------------------------------------------------------------------------------


def of_claims(claims: "Sequence[ClaimRow]", cells: int, now: float) -> Lines:
    table = [
        (
            word_of_command(str(claim.get("item"))),
            f"#{clean(claim.get('fence'))}",
            name_of(claim.get("holder")),
            _since(claim.get("since"), now),
            f"{claim['waiting']} waiting" if claim.get("waiting") else "",
            clean(claim.get("note")),
        )
        for claim in claims
    ]
    return _plain_table(("ITEM", "CLAIM", "HOLDER", "FOR", "", "NOTE"), table, cells)


def of_leftovers(leftovers: "Sequence[LeftoverRow]", cells: int) -> Lines:
    table = [
        (
            clean(each.get("session"))[:SHORTEST_ID] or "-",
            clean(each.get("kind")),
            what_of(each),
            memory(each.get("memory_bytes")),
            _evidence(each.get("evidence")),
        )
        for each in leftovers
    ]
    return _plain_table(("FROM", "KIND", "WHAT", "MEM", "EVIDENCE"), table, cells)


def _plain_table(titles: tuple[str, ...], table: Sequence[tuple[str, ...]], cells: int) -> Lines:
    """Columns as wide as they must be, the last gets what is left; each line is cut at the screen's end."""
    most = max(8, cells // 2)
    widths = [
        min(most, max(width(row[column]) for row in [titles, *table])) for column in range(len(titles) - 1)
    ]

    def text_of(row: tuple[str, ...]) -> str:
        parts = [pad(cut(text, wide), wide) for text, wide in zip(row, widths, strict=False) if wide]
        return cut(GAP.join([*parts, row[-1]]).rstrip(), cells)

    def draw(number: int) -> Line:
        return plain(text_of(table[number]))

    return Lines(plain(text_of(titles)), [str(number) for number in range(len(table))], draw)


def _since(stamp: object, now: float) -> str:
    at = time_text.parse(stamp)
    return "-" if at is None else time_text.span(now - at)


def beside(rows: Sequence[Row], lists: Lists) -> list[str]:
    """What stands in the footer: alarms, contested claims, memory that the dead still hold."""
    alarms = sum(len(row.alarms) for row in rows)
    contested = sum(bool(claim.get("waiting")) for claim in lists.get("claims") or ())
    sizes = [each.get("memory_bytes") for each in lists.get("leftovers") or ()]
    held = sum(size for size in sizes if isinstance(size, int | float))
    parts = [
        f"{alarms} alarm{'s' if alarms > 1 else ''}" if alarms else "",
        f"{contested} contested" if contested else "",
        f"{memory(held)} left behind" if held else "",
    ]
    return [part for part in parts if part]


def _evidence(evidence: object) -> str:
    return "; ".join(clean(each) for each in evidence) if isinstance(evidence, list) else clean(evidence)
