"""The detail pane: of the chosen session everything that matters, and why it is believed.

Rules of this file
  1. The explanation is that of `headcount explain`, word for word.
  2. What has not been answered yet is not shown; what cannot be asked shows nothing.
  3. Lines that do not fit are cut, and those beyond the pane can be scrolled to.

Not here: asking (event_feed.py), the strip's cells (strip.py).
"""

from typing import Any

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from headcount.cli.sanitize import clean
from headcount.present import session_words, time_text
from headcount.present.clean_text import command, said_item
from headcount.present.explanation import lines_of
from headcount.present.holders import name_of
from headcount.present.leftovers import what_of
from headcount.tui.paint import Line, plain, strip_of
from headcount.tui.strip import strip_of_lane

STRIP_LABEL = "last 2 h  "


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
    raw: session_words.Raw,
    explanation: dict[str, Any] | None,
    timeline: dict[str, Any] | None,
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


def lines_about_claim(claim: dict[str, Any], now: float) -> list[Line]:
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


def lines_about_leftover(left: dict[str, Any]) -> list[Line]:
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


def _title(raw: session_words.Raw, now: float) -> str:
    started = time_text.parse(raw.get("started_at"))
    age = "" if started is None else f", started {time_text.exact_span(now - started)} ago"
    return f"{session_words.who(raw)} · {session_words.agent_name(raw)} · {session_words.state_of(raw, now)}{age}"


def _facts(raw: session_words.Raw) -> list[tuple[str, str]]:
    return [
        ("doing", session_words.doing_of(raw, session_words.group_of(raw))),
        ("title", clean(raw.get("title"))),
        ("in", clean(raw.get("cwd"))),
        ("where", clean(raw.get("where"))),
        ("holds", ", ".join(said_item(item) for item in raw.get("claims") or ())),
        ("spent", _spent(raw)),
        ("resume", clean(raw.get("resume"))),
    ]


def _spent(raw: session_words.Raw) -> str:
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
