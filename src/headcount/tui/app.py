"""The terminal UI: bare `headcount` on a terminal.

Rules
  1. It draws what the stream says and decides nothing; a key that changes something runs the verb of that name.
  2. Drawing happens at most once a frame, asking only in threads: keys answer at once whatever the daemon does.
  3. Nothing moves under the cursor: the order freezes with the first move and thaws when nobody moves.
  4. `s` asks for a second press, on the same row, soon.

Not here: rows (sessions.py), lines (tab_lines.py), the stream (event_feed.py), words (cli/).
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.timer import Timer
from textual.widgets import Input

from headcount import times
from headcount.clean_text import clean
from headcount.present import time_text
from headcount.present.session_words import Row, who
from headcount.present.table import summary
from headcount.tui import tab_lines, widgets
from headcount.tui.detail_pane import Detail, lines_about, lines_about_claim, lines_about_leftover
from headcount.tui.event_feed import Feed, Lists
from headcount.tui.keys import KEYS, Help, run_verb
from headcount.tui.sessions import Board, next_that_needs_you
from headcount.tui.widgets import Line, Listing, plain

if TYPE_CHECKING:
    from headcount.wire.views import Explanation, Timeline

UNKNOWN = "Asking who is here…"
EMPTY = "No agents here. Start one, or see what it looks like: headcount demo"


class Headcount(App[None]):
    TITLE = "headcount"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layers: base; background: $background; }
    #top { background: $panel; }
    #bottom { background: $panel; }
    Listing { height: 1fr; min-height: 4; }
    Detail { height: 40%; min-height: 4; max-height: 16; border-top: solid $primary; }
    Detail.small { display: none; }
    #find { display: none; height: 1; border: none; padding: 0; background: $panel; }
    #find.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(
        self, env: Mapping[str, str], *, unicode: bool = True, feed: Callable[..., Feed] = Feed
    ) -> None:
        super().__init__()
        self.board = Board()
        self.feed = feed(env, self._wake)
        self.tab = "agents"
        self.top_bar, self.bottom_bar = widgets.Bar(id="top"), widgets.Bar(id="bottom")
        self.listing, self.pane = Listing(), Detail()
        self.field = Input(id="find", placeholder="name, agent, repository, state", compact=True)
        self._unicode = unicode
        self._everybody: list[Row] = []
        self._rows: list[Row] = []  # those that are looked for
        self._lists: Lists = {"claims": None, "leftovers": None}
        self._behind: tuple[str, Explanation | None, Timeline | None] | None = None  # of which session
        self._said: tuple[str, float] | None = None
        self._stopping: tuple[str, float] | None = None  # pressed once: on whom, until when
        self._moved_at = 0.0
        self._waited = ""
        self._frame: Timer | None = None
        self._asking: Timer | None = None

    def compose(self) -> ComposeResult:
        yield from (self.top_bar, self.listing, self.pane, self.field, self.bottom_bar)

    def on_mount(self) -> None:
        self.listing.focus()
        self.set_interval(times.TUI_TICK, self._tick)
        self.set_interval(times.TUI_LOOK_AGAIN, self._look_beside)
        self.feed.start()
        self._look_beside()
        self._draw()

    def on_unmount(self) -> None:
        self.feed.close()

    # --- what comes in -------------------------------------------------------------------------------

    def _wake(self) -> None:
        """From the feed's thread."""
        self.call_later(self._soon)

    def _soon(self) -> None:
        if self._frame is None:
            self._frame = self.set_timer(times.TUI_FRAME, self._take)

    def _take(self) -> None:
        self._frame = None
        chosen, beside = self.listing.chosen, False
        for event in self.feed.drain():
            self.board.take(event)
            kind = str(event.get("type"))
            beside = beside or kind.startswith(("claim.", "leftover.")) or kind == "snapshot"
            if (event.get("session") or {}).get("id") == chosen:
                self._ask_soon()
        if beside:
            self._look_beside()
        self._draw()

    def _tick(self) -> None:
        if self.board.is_frozen and time.monotonic() - self._moved_at >= times.TUI_THAW_AFTER:
            self.board.thaw()
        self.board.tidy(time.time())
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    # --- drawing -------------------------------------------------------------------------------------

    def _draw(self) -> None:
        now, cells = time.time(), self.size.width
        self._everybody = self.board.everybody(now)
        self._rows = self.board.looked_for(self._everybody)
        listing = self.listing
        inner = max(10, listing.scrollable_content_region.width or cells)
        if self.tab == "agents":
            shown = tab_lines.of_agents(self._rows, inner, unicode=self._unicode)
        elif self.tab == "claims":
            shown = tab_lines.of_claims(self._lists["claims"] or (), inner, now)
        else:
            shown = tab_lines.of_leftovers(self._lists["leftovers"] or (), inner)
        if not shown.keys:
            shown = tab_lines.Lines(plain(self._nothing()), [], shown.draw)
        listing.show(*shown)
        self._draw_detail(now)
        self._draw_bars(now, cells)

    def _nothing(self) -> str:
        if self.tab == "agents" and not self.board.is_known:
            return UNKNOWN
        if self.tab == "agents":
            return f"Nothing fits: {self.board.wanted}" if self.board.wanted else EMPTY
        return "Nobody holds anything." if self.tab == "claims" else "Nothing was left behind."

    def _draw_detail(self, now: float) -> None:
        self.pane.show(self._detail(now))

    def _detail(self, now: float) -> list[Line]:
        chosen = self.listing.chosen or ""
        if self.tab == "agents":
            raw, known = self.board.sessions.get(chosen), self._behind
            if raw is None:
                return []
            _, explanation, timeline = known if known is not None and known[0] == chosen else ("", None, None)
            return lines_about(raw, explanation, timeline, self.pane.scrollable_content_region.width, now)
        if not chosen.isdecimal():
            return []
        place, claims, leftovers = int(chosen), self._lists["claims"] or [], self._lists["leftovers"] or []
        if self.tab == "claims":
            return lines_about_claim(claims[place], now) if place < len(claims) else []
        return lines_about_leftover(leftovers[place]) if place < len(leftovers) else []

    def _draw_bars(self, now: float, cells: int) -> None:
        claims, leftovers = self._lists["claims"], self._lists["leftovers"]
        counts = {
            "claims": None if claims is None else len(claims),
            "leftovers": None if leftovers is None else len(leftovers),
        }
        told = (summary(self._everybody), widgets.in_marks(self._everybody, unicode=self._unicode))
        told = told if self.board.is_known else ("", "")
        self.top_bar.show(widgets.top(self.tab, counts, told, cells))
        since = self.feed.lost_since
        lost = (
            None
            if since is None
            else f"No connection for {time_text.span(now - since)}; trying again. headcount up"
        )
        if self._said is not None and time.monotonic() > self._said[1]:
            self._said = None
        said = self._said[0] if self._said is not None else None
        notes = [*tab_lines.beside(self._everybody, self._lists), *([self._waited] if self._waited else [])]
        line = widgets.bottom(
            lost=lost, said=said, wanted=self._wanted(), notes=notes, cells=cells, keys=widgets.KEYS[self.tab]
        )
        self.bottom_bar.show(line)

    def _wanted(self) -> str:
        """How many of all fit what was typed: who filters must see that there are others."""
        if not self.board.wanted:
            return ""
        fit = f"{len(self._rows)} of {len(self._everybody)}"
        if self.field.has_class("open"):
            return f"{fit} fit   (Enter: keep, Esc: all)"
        return f"only: {self.board.wanted}, {fit}   (Esc: all)"

    def say(self, text: str, seconds: float = times.TUI_SAID_FOR) -> None:
        self._said = (clean(text), time.monotonic() + seconds)
        self._draw()

    # --- asking, in threads --------------------------------------------------------------------------

    @on(Listing.Chosen)
    def _chose(self) -> None:
        self._ask_soon()
        self._draw_detail(time.time())

    def _ask_soon(self) -> None:
        if self._asking is None:
            self._asking = self.set_timer(times.TUI_ASK_AFTER, self._ask)

    def _ask(self) -> None:
        self._asking = None
        chosen = self.listing.chosen
        if self.tab == "agents" and chosen is not None:
            self.run_worker(lambda: self._ask_behind(chosen), thread=True, exclusive=True, group="behind")

    def _ask_behind(self, session: str) -> None:
        explanation, timeline = self.feed.behind(session)

        def keep() -> None:
            self._behind = (session, explanation, timeline)
            self._draw_detail(time.time())

        self.call_later(keep)

    def _look_beside(self) -> None:
        self.run_worker(self._ask_beside, thread=True, exclusive=True, group="beside")

    def _ask_beside(self) -> None:
        beside = self.feed.beside()

        def keep() -> None:
            self._lists = beside.lists
            self._waited = f"waited on you {time_text.span(beside.waited)} today" if beside.waited else ""
            self._draw()

        self.call_later(keep)

    # --- keys ----------------------------------------------------------------------------------------

    def _moving(self) -> None:
        self._moved_at = time.monotonic()
        self.board.freeze(time.time())

    def action_move(self, by: int) -> None:
        self._moving()
        self.listing.move(by)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.listing.size.height - 2))

    def action_next(self) -> None:
        self.action_tab("agents")
        listing = self.listing
        found = next_that_needs_you(self._rows, listing.chosen)
        if found is None:
            hidden = next_that_needs_you(self._everybody, None) is not None
            self.say("Nobody of these needs you; others do. Esc: all" if hidden else "Nobody needs you.")
            return
        self._moving()
        listing.choose(found)

    def action_tab(self, name: str) -> None:
        if self.tab != name:
            self.tab = name
            self._draw()

    def action_next_tab(self) -> None:
        self.action_tab(widgets.TABS[(widgets.TABS.index(self.tab) + 1) % len(widgets.TABS)])

    def action_detail(self) -> None:
        self.pane.toggle_class("small")
        self.call_after_refresh(self._draw)

    def action_scroll_detail(self, by: int) -> None:
        self.pane.scroll_relative(y=by, animate=False)

    def action_help(self) -> None:
        self.push_screen(Help())

    def action_jump(self) -> None:
        chosen = self._chosen_agent()
        if chosen is not None:
            self._run("jump", chosen)

    def action_stop(self) -> None:
        chosen, now = self._chosen_agent(), time.monotonic()
        if chosen is None:
            self.say("s stops an agent: 1 shows them.")
            return
        self._moving()
        raw = self.board.sessions[chosen]
        if raw.get("liveness") == "ended":
            self.say(f"{who(raw)} has ended.")
            return
        if self._stopping is not None and self._stopping[0] == chosen and now <= self._stopping[1]:
            self._stopping = None
            self._run("stop", chosen)
            return
        self._stopping = (chosen, now + times.TUI_STOP_AGAIN_WITHIN)
        self.say(f"Stop {who(raw)}? Press s again.", times.TUI_STOP_AGAIN_WITHIN)

    def _chosen_agent(self) -> str | None:
        chosen = self.listing.chosen if self.tab == "agents" else None
        return chosen if chosen in self.board.sessions else None

    def _run(self, verb: str, session: str) -> None:
        def work() -> None:
            said = run_verb(verb, session)
            self.call_later(self.say, said)

        self.say(f"{verb} …")
        self.run_worker(work, thread=True, group=verb)

    # --- finding -------------------------------------------------------------------------------------

    def action_find(self) -> None:
        self.action_tab("agents")
        field = self.field
        field.add_class("open")
        field.value = self.board.wanted
        field.focus()

    @on(Input.Changed, "#find")
    def _typed(self, event: Input.Changed) -> None:
        self.board.wanted = clean(event.value)
        self._draw()

    @on(Input.Submitted, "#find")
    def _found(self) -> None:
        self._close_find()

    def action_leave(self) -> None:
        """Esc: out of the field, then to all rows."""
        self.board.wanted = ""
        self.field.value = ""
        self._close_find()

    def _close_find(self) -> None:
        self.field.remove_class("open")
        self.listing.focus()
        self._draw()


def run(env: Mapping[str, str], *, unicode: bool = True) -> None:
    Headcount(env, unicode=unicode).run()
