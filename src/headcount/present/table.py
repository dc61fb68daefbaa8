"""Draw the table of `ps`: columns that fit the screen, the summary, and the columns that `--wide` adds.

Rules
  1. NAME and DOING share the spare width. Names are cut in the middle, other texts at their end; ids, FOR and
     AGENT are never cut.
  2. Below 100 columns WHERE is dropped, then REPO if it does not fit; below 60 only the mark, NAME, STATE and
     FOR are left. No line is wider than the screen. A pipe gets everything, uncut and without colour.
  3. Only the mark and STATE are coloured. An alarm is a red line of its own.
  4. More than eight idle rows fold into one, except in pipes and when everything was asked for.
  5. A figure that the agent's files do not give is a dash. A column of dashes only is left out.
  6. The context is a percentage where its size is known, else a count. No size is guessed from a model's name.

Not here: words and order (present/session_words.py), what a terminal can do (present/screen.py), where a
  figure comes from (`show`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean, cut, cut_middle, pad, width
from headcount.present.screen import Screen
from headcount.present.session_words import ASCII_MARKS, GROUPS, MARKS, Row

if TYPE_CHECKING:
    from headcount.wire.views import SessionRow

GAP = "  "
WIDE_FROM = 100
NARROW_BELOW = 60
IDLE_MOST = 8
ALARM_INDENT = 8  # under STATE
NAME_LEAST = 8
DOING_LEAST = 12
STATE_LEAST = 12

TITLES = {
    "id": "ID",
    "host": "HOST",
    "state": "STATE",
    "age": "FOR",
    "agent": "AGENT",
    "name": "NAME",
    "repo": "REPO",
    "doing": "DOING",
    "where": "WHERE",
}
ALL = ("id", "host", "state", "age", "agent", "name", "repo", "doing", "where")
NARROW = ("name", "state", "age")

PHRASES = {
    "needs you": ("needs you", "need you"),
    "stopped": ("stopped", "stopped"),
}


More = Mapping[str, Mapping[str, str]]  # further columns: by title, the text of each row by its full id
NO_MORE: More = {}

NOBODY = "No agents here. Start one, or see what it looks like: headcount demo"
NOBODY_THERE = "No agents in that directory. All of them: headcount ps"

THOUSAND = 1_000
MILLION = 1_000_000


class Column(NamedTuple):
    key: str
    cells: int
    texts: Mapping[str, str] | None = None  # of a further column


def _text(column: Column, row: Row) -> str:
    if column.texts is None:
        return str(getattr(row, column.key))
    return column.texts.get(row.full_id) or "-"


def draw(rows: Sequence[Row], screen: Screen, *, everything: bool = False, more: More = NO_MORE) -> list[str]:
    """The whole of `ps`: head, rows, alarms, summary."""
    if not rows:
        return [NOBODY]
    shown, folded = (rows, []) if everything or screen.columns is None else fold(rows)
    columns = columns_of(shown, None if everything else screen.columns)
    for title, texts in more.items():
        columns.append(Column(title, max([len(title), *map(width, texts.values())]), texts))
    lines = [_head(columns)] if shown else []
    for row in shown:
        lines.append(_line(row, columns, screen))
        lines.extend(_alarm(alarm, screen) for alarm in row.alarms)
    if folded:
        lines.append(_folded_line(folded, screen))
    lines.append(_within(summary(rows), screen))
    return lines


def fold(rows: Sequence[Row]) -> tuple[Sequence[Row], list[Row]]:
    """What is shown and what is folded. A row with an alarm is always shown."""
    idle = [row for row in rows if row.group == "idle" and not row.alarms]
    if len(idle) <= IDLE_MOST:
        return rows, []
    gone = {row.full_id for row in idle}
    return [row for row in rows if row.full_id not in gone], idle


def summary(rows: Sequence[Row]) -> str:
    """`8 alive: 2 need you, 1 stopped, …`, and beside it those of whom that is not known."""
    alive = [row for row in rows if row.liveness == "alive"]
    parts = []
    for group in GROUPS:
        count = sum(row.group == group for row in alive)
        if count:
            one, many = PHRASES.get(group, (group, group))
            parts.append(f"{count} {one if count == 1 else many}")
    text = f"{len(alive)} alive: {', '.join(parts)}" if parts else "0 alive"
    others = (("unknown", "not proven alive"), ("lost", "unheard"), ("ended", "ended"))
    for liveness, word in others:
        count = sum(row.liveness == liveness for row in rows)
        if count:
            text += f"; {count} {word}"
    return text


def columns_of(rows: Sequence[Row], available: int | None) -> list[Column]:
    narrow = available is not None and available < NARROW_BELOW
    empty = {
        "where": all(row.where == "-" for row in rows),
        "host": not any(row.host for row in rows),
    }
    keys = [key for key in (NARROW if narrow else ALL) if not empty.get(key, False)]
    natural = {key: max([len(TITLES[key]), *(width(getattr(row, key)) for row in rows)]) for key in keys}
    if available is None:
        return [Column(key, natural[key]) for key in keys]
    return _fitted(keys, natural, available)


def _fitted(keys: list[str], natural: dict[str, int], available: int) -> list[Column]:
    if available < WIDE_FROM:
        keys = [key for key in keys if key != "where"]
        if _total(keys, natural, squeezed=True) > available:
            keys = [key for key in keys if key != "repo"]
    cells = dict(natural)
    for key, least in (("state", STATE_LEAST), ("repo", NAME_LEAST), ("where", NAME_LEAST)):
        if key in keys and _total(keys, cells, squeezed=True) > available:
            over = _total(keys, cells, squeezed=True) - available
            cells[key] = max(min(least, cells[key]), cells[key] - over)
    _share(keys, cells, available)
    return [Column(key, cells[key]) for key in keys]


def _share(keys: list[str], cells: dict[str, int], available: int) -> None:
    """Give NAME and DOING what the others leave, the smaller wish first."""
    elastic = [key for key in ("name", "doing") if key in keys]
    room = available - _total([key for key in keys if key not in elastic], cells) - len(GAP) * len(elastic)
    for position, key in enumerate(sorted(elastic, key=lambda key: cells[key])):
        cells[key] = max(1, min(cells[key], room // (len(elastic) - position)))
        room -= cells[key]


def _total(keys: list[str], cells: dict[str, int], squeezed: bool = False) -> int:
    least = {"name": NAME_LEAST, "doing": DOING_LEAST} if squeezed else {}
    wanted = sum(min(cells[key], least.get(key, cells[key])) for key in keys)
    return 2 + wanted + len(GAP) * max(0, len(keys) - 1)


def _head(columns: list[Column]) -> str:
    titles = [_aligned(column, TITLES.get(column.key, column.key), "") for column in columns]
    return ("  " + GAP.join(titles)).rstrip()


def _line(row: Row, columns: list[Column], screen: Screen) -> str:
    marks = MARKS if screen.unicode else ASCII_MARKS
    cells = []
    for column in columns:
        text = _aligned(column, _text(column, row), screen.dots)
        cells.append(_painted(text, row.colour, screen) if column.key == "state" else text)
    return f"{screen.paint(marks[row.group], row.colour)} {GAP.join(cells)}".rstrip()


def _aligned(column: Column, text: str, dots: str) -> str:
    if column.key == "age":
        return text.rjust(column.cells)
    cutter = cut_middle if column.key == "name" else cut
    return pad(cutter(text, column.cells, dots), column.cells)


def _painted(text: str, colour: str, screen: Screen) -> str:
    word = text.rstrip()
    return screen.paint(word, colour) + text[len(word) :]


def _alarm(alarm: str, screen: Screen) -> str:
    return screen.paint(_within(" " * ALARM_INDENT + f"! {alarm}", screen), "alarm")


def _folded_line(folded: list[Row], screen: Screen) -> str:
    marks = MARKS if screen.unicode else ASCII_MARKS
    text = _within(
        f"  {len(folded)} idle, the longest {folded[0].age}; see them: headcount ps --wide", screen
    )[2:]
    return f"{screen.paint(marks['idle'], 'idle')} {text}"


def _within(text: str, screen: Screen) -> str:
    return text if screen.columns is None else cut(text, screen.columns, screen.dots)


def context(raw: "SessionRow") -> str:
    """`66%`, or `132k` where nobody says of how much."""
    used, window = raw.get("context_tokens"), raw.get("context_window")
    if not isinstance(used, int):
        return ""
    return f"{100 * used // window}%" if isinstance(window, int) and window > 0 else amount(used)


def tokens(raw: "SessionRow") -> str:
    """`94k in, 140 out`."""
    spent = raw.get("tokens")
    if not isinstance(spent, dict):
        return ""
    return f"{amount(spent.get('input'))} in, {amount(spent.get('output'))} out"


def cost(raw: "SessionRow") -> str:
    usd = raw.get("cost_usd")
    return f"${usd:.2f}" if isinstance(usd, int | float) else ""


def amount(count: object) -> str:
    """950, 13k, 1.2M."""
    if not isinstance(count, int):
        return "?"
    if count < THOUSAND:
        return str(count)
    if count < MILLION:
        return f"{count // THOUSAND}k"
    return f"{count / MILLION:.1f}M"


def _plain(name: str) -> "Callable[[SessionRow], str]":
    return lambda raw: clean(raw.get(name))


WIDE_COLUMNS: dict[str, "Callable[[SessionRow], str]"] = {
    "ROLE": _plain("role"),
    "GROUPS": lambda raw: ", ".join(clean(group) for group in raw.get("groups") or ()),
    "MODEL": _plain("model"),
    "CONTEXT": context,
    "TOKENS": tokens,
    "COST": cost,
    "WORKTREE": _plain("worktree"),
    "MODE": _plain("permission_mode"),
    "ENTRY": _plain("entrypoint"),
    "PARENT": lambda raw: clean(raw.get("parent"))[:4],
    "VERSION": _plain("version"),
}


def wide_columns(sessions: "Iterable[SessionRow]") -> dict[str, dict[str, str]]:
    """By title, each session's text by its id."""
    listed = list(sessions)
    drawn = {
        title: {clean(raw.get("id")): text(raw) for raw in listed} for title, text in WIDE_COLUMNS.items()
    }
    return {title: texts for title, texts in drawn.items() if any(texts.values())}
