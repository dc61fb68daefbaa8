"""The terminal UI without a daemon: a feed that says what a test says, and what then stands on the screen.

Not here: the daemon's own words (tests/tui/test_with_real_daemon.py).
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from textual.pilot import Pilot

from headcount.tui.app import Headcount
from headcount.tui.event_feed import Feed

WITHIN = 20.0


class Script:
    """A feed that says what the test says; it answers as the daemon would."""

    def __init__(self, sessions: list[dict[str, Any]], answers: dict[str, Any] | None = None) -> None:
        self.lost_since: float | None = None
        self.asked: list[str] = []
        self._waiting: list[dict[str, Any]] = [{"type": "snapshot", "seq": 1, "sessions": sessions}]
        self._answers = answers or {}
        self._wake: Callable[[], object] = lambda: None

    def __call__(self, env: Mapping[str, str], wake: Callable[[], object]) -> "Script":
        self._wake = wake
        return self

    def start(self) -> None:
        self._wake()

    def close(self) -> None:
        pass

    def tell(self, *events: dict[str, Any]) -> None:
        self._waiting += events
        self._wake()

    def drain(self) -> list[dict[str, Any]]:
        taken, self._waiting = self._waiting, []
        return taken

    def ask(self, path: str) -> Any:
        self.asked.append(path)
        return self._answers.get(path.partition("?")[0])

    beside = Feed.beside  # what it makes of the answers is its own

    def behind(self, session: str) -> tuple[Any, Any]:
        return self._answers.get("explain"), self._answers.get("timeline")


def app_of(script: Script) -> Headcount:
    return Headcount({}, feed=script)  # type: ignore[arg-type]


async def until(pilot: Pilot[None], look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WITHIN
    while not (seen := look()):
        assert time.monotonic() < deadline, "it never came on the screen"
        await pilot.pause(0.01)
    return seen


def screen(app: Headcount) -> list[str]:
    """The lines of the list as they are drawn, the head first."""
    listing = app.listing
    return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]


def everything(app: Headcount) -> str:
    bars = [bar.render_line(0).text for bar in (app.top_bar, app.bottom_bar)]
    pane = app.pane
    return "\n".join([*screen(app), *(pane.render_line(y).text for y in range(pane.size.height)), *bars])


def bottom(app: Headcount) -> str:
    return app.bottom_bar.text
