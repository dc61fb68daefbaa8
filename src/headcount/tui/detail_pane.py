"""The detail pane: everything that matters about the chosen session, and a strip of its last two hours.

Rules
  1. The explanation is that of `headcount explain`, word for word.
  2. An answer that has not arrived, or cannot be asked for, is not shown.
  3. Lines that do not fit are cut. Lines beyond the pane can be scrolled to.
  4. A cell of the strip shows the most urgent state in it: needs you, then stopped, done, working, unknown,
     idle.
  5. A cell is hatched where headcount was not running, and empty where nothing was known.
     Nothing is filled in. The last cell is now, and shows what is seen now, for however short a time.
  6. A granted claim and a death have marks of their own, drawn on top.

Not here: requests (tui/event_feed.py), the spans of a timeline (core/timeline.py).
"""

from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from headcount.clean_text import clean, command, said_item
from headcount.present import session_words, time_text
from headcount.present.explanation import lines_of
from headcount.present.holders import name_of
from headcount.present.leftovers import what_of
from headcount.present.session_words import GROUP_OF_ACTIVITY
from headcount.tui.widgets import Line, plain, strip_of

if TYPE_CHECKING:
    from headcount.wire.views import Blind, ClaimRow, Explanation, LeftoverRow, SessionRow, Span, Timeline

STRIP_LABEL = "last 2 h  "

LOUD = ("needs you", "stopped", "done", "working", "unknown", "idle")
BLOCKS = {"needs you": "█", "stopped": "█", "done": "▆", "working": "▅", "unknown": "▂", "idle": "▁"}
BLIND, EMPTY, GRANTED, DIED = "░", " ", "◆", "✗"


class Detail(ScrollView):
    DEFAULT_CSS = "Detail { scrollbar-size-vertical: 1; overflow-x: hidden; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        self._lines = lines
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, index = self.scrollable_content_region.width, int(self.scroll_offset.y) + y
        base: Style = self.rich_style
        if index >= len(self._lines):
            return Strip.blank(width, base)
        return strip_of(self._lines[index], width, base)

    @property
    def text(self) -> str:
        """For tests: what it says."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)


def lines_about(
    raw: "SessionRow",
    explanation: "Explanation | None",
    timeline: "Timeline | None",
    cells: int,
    now: float,
) -> list[Line]:
    """The strip, the explanation, the facts."""
    lines: list[Line] = [[(_title(raw, now), "bold")]]
    if timeline is not None:
        lane = strip_of_lane(timeline, str(raw.get("id")), max(1, cells - len(STRIP_LABEL)))
        if lane:
            lines.append([(STRIP_LABEL, "head"), *lane])
    if explanation is not None and explanation.get("session"):
        lines += [plain(line) for line in lines_of(explanation, now)]
    return lines + _named(_facts(raw))


def lines_about_claim(claim: "ClaimRow", now: float) -> list[Line]:
    since = time_text.parse(claim.get("since"))
    facts = [
        ("holder", name_of(claim.get("holder"))),
        ("since", "" if since is None else time_text.clock(since, now)),
        ("note", clean(claim.get("note"))),
        ("waiting", clean(claim.get("waiting") or "")),
        ("history", command("headcount", "claims", "--history", str(claim.get("item")))),
    ]
    title = f"{said_item(claim.get('item'))} · claim #{clean(claim.get('fence'))}"
    return [[(title, "bold")], *_named(facts)]


def lines_about_leftover(left: "LeftoverRow") -> list[Line]:
    """With its evidence, and the command that would end it: nothing is ended from here."""
    evidence = left.get("evidence")
    listed = evidence if isinstance(evidence, list) else [evidence]
    session = clean(left.get("session"))[: session_words.SHORTEST_ID]
    process = left.get("kind") == "process"
    facts = [("because", clean(each)) for each in listed]
    chosen = (session,) if session else ("--id", str(left.get("id")))
    facts += [
        ("from", session),
        ("to end it", command("headcount", "reap", *chosen, "--yes") if process else ""),
    ]
    return [[(f"{clean(left.get('kind'))} · {what_of(left)}", "bold")], *_named(facts)]


def _named(facts: list[tuple[str, str]]) -> list[Line]:
    return [[(f"{name:<10}", "head"), (value, "plain")] for name, value in facts if value]


def _title(raw: "SessionRow", now: float) -> str:
    started = time_text.parse(raw.get("started_at"))
    age = "" if started is None else f", started {time_text.exact_span(now - started)} ago"
    return f"{session_words.who(raw)} · {session_words.agent_name(raw)} · {session_words.state_of(raw, now)}{age}"


def _facts(raw: "SessionRow") -> list[tuple[str, str]]:
    return [
        ("doing", session_words.doing_of(raw, session_words.group_of(raw))),
        ("title", clean(raw.get("title"))),
        ("in", clean(raw.get("cwd"))),
        ("where", clean(raw.get("where"))),
        ("holds", ", ".join(said_item(item) for item in raw.get("claims") or ())),
        ("spent", _spent(raw)),
        ("resume", clean(raw.get("resume"))),
    ]


def _spent(raw: "SessionRow") -> str:
    """Tokens and money, as far as the agent's own files say."""
    tokens, cost = raw.get("tokens"), raw.get("cost_usd")
    parts = []
    if isinstance(tokens, dict):
        parts.append(f"{clean(tokens.get('input'))} tokens in, {clean(tokens.get('output'))} out")
    elif tokens is not None:
        parts.append(f"{clean(tokens)} tokens")
    if isinstance(cost, int | float):
        parts.append(f"${cost:.2f}")
    return "; ".join(parts)


def strip_of_lane(timeline: "Timeline", session: str, cells: int) -> Line:
    """Coloured cells from the timeline's beginning to its end; empty when it tells nothing of that session."""
    since, to = time_text.parse(timeline.get("since")), time_text.parse(timeline.get("to"))
    lanes = timeline.get("lanes") or ()
    lane = next((each for each in lanes if each.get("session") == session), None)
    if since is None or to is None or to <= since or lane is None or cells < 1:
        return []
    scale = _Scale(since, to, cells)
    drawn: list[tuple[str, str]] = [(EMPTY, "plain")] * cells
    for span in lane.get("spans") or ():
        group = GROUP_OF_ACTIVITY.get(str(span.get("activity")), "unknown")
        for cell in scale.cells_of(span):
            if drawn[cell][0] == EMPTY or LOUD.index(group) < LOUD.index(drawn[cell][1]):
                drawn[cell] = (BLOCKS[group], group)
    for blind in timeline.get("blind") or ():
        for cell in scale.cells_of(blind):
            if cell + 1 < cells or drawn[cell][0] == EMPTY:
                drawn[cell] = (BLIND, "idle")
    for claim in lane.get("claims") or ():
        _mark(drawn, scale.cell_at(claim.get("since")), GRANTED, "bold")
    _mark(drawn, scale.cell_at((lane.get("ended") or {}).get("at")), DIED, "killed")
    return _joined(drawn)


class _Scale:
    def __init__(self, since: float, to: float, cells: int) -> None:
        self._since, self._per_cell, self._cells = since, (to - since) / cells, cells

    def cells_of(self, span: "Span | Blind") -> range:
        first, last = self.cell_at(span.get("since")), self.cell_at(span.get("to"))
        return range(0) if first is None or last is None else range(first, last + 1)

    def cell_at(self, stamp: object) -> int | None:
        at = time_text.parse(stamp)
        if at is None:
            return None
        return min(max(int((at - self._since) / self._per_cell), 0), self._cells - 1)


def _mark(drawn: list[tuple[str, str]], cell: int | None, mark: str, style: str) -> None:
    if cell is not None:
        drawn[cell] = (mark, style)


def _joined(drawn: list[tuple[str, str]]) -> Line:
    """Neighbours of one style in one piece."""
    line: Line = []
    for text, style in drawn:
        if line and line[-1][1] == style:
            line[-1] = (line[-1][0] + text, style)
        else:
            line.append((text, style))
    return line
