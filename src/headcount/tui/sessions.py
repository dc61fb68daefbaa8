"""The board: the sessions as the stream tells of them, in the order and words of `ps`.

Rules
  1. A snapshot replaces what is known, an event changes one row; nothing is decided here.
  2. The order is frozen while somebody moves through it: rows change in place, new ones come last, and nothing
     moves under the cursor. Thawed, it is the order of `ps` again.
  3. Who ended is shown for a while, and while the order is frozen where it was, so that a death is seen and not
     only missed.
  4. Time comes in as an argument.

Not here: drawing (widgets.py), keys (app.py), the stream (event_feed.py).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.present import time_text
from headcount.present.session_words import Row, in_order, row_of, short_ids
from headcount.times import TUI_ENDED_SHOWN

if TYPE_CHECKING:
    from headcount.wire.views import SessionRow, StreamEvent


class Board:
    def __init__(self) -> None:
        self.sessions: dict[str, SessionRow] = {}
        self.is_known = False  # whether the daemon has said yet who is there
        self.wanted = ""  # what was typed after `/`
        self._order: list[str] | None = None  # ids, while it is frozen
        self._cleaned: dict[str, tuple[SessionRow, str]] = {}
        self._made: dict[str, tuple[SessionRow, str, int, Row]] = {}
        self._short: dict[str, str] = {}

    # --- what comes in -------------------------------------------------------------------------------

    def take(self, event: "StreamEvent") -> None:
        if event.get("type") == "snapshot":
            self.is_known = True
            self.sessions = {str(raw["id"]): raw for raw in event.get("sessions") or () if _is_shown(raw)}
            return
        raw = event.get("session")
        if not isinstance(raw, dict) or not raw.get("id"):
            return
        if _is_shown(raw) or str(raw["id"]) in self.sessions:
            self.sessions[str(raw["id"])] = raw

    # --- what is shown -------------------------------------------------------------------------------

    def rows(self, now: float) -> list[Row]:
        return self.looked_for(self.everybody(now))

    def looked_for(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if self._is_looked_for(row)] if self.wanted else list(rows)

    def everybody(self, now: float) -> list[Row]:
        """All, in the order of `ps`, or as it was when that was frozen."""
        if self._short.keys() != self.sessions.keys():
            self._short = short_ids(list(self.sessions))
        ordered = in_order(self._row(id, raw, now) for id, raw in self.sessions.items())
        if self._order is not None:
            place = {id: index for index, id in enumerate(self._order)}
            ordered.sort(key=lambda row: place.get(row.full_id, len(place)))
        return ordered

    def freeze(self, now: float) -> None:
        if self._order is None:
            self._order = [row.full_id for row in self.rows(now)]

    def thaw(self) -> None:
        self._order = None

    def tidy(self, now: float) -> None:
        """Forget who ended long ago, unless that would move rows under somebody's cursor."""
        if self._order is not None:
            return
        for id, raw in list(self.sessions.items()):
            at = time_text.parse((raw.get("ended") or {}).get("at"))
            if raw.get("liveness") == "ended" and (at is None or now - at >= TUI_ENDED_SHOWN):
                del self.sessions[id]
                self._cleaned.pop(id, None)
                self._made.pop(id, None)

    @property
    def is_frozen(self) -> bool:
        return self._order is not None

    def _row(self, id: str, raw: "SessionRow", now: float) -> Row:
        """Made again when it changed, and once a second for its age: a burst of events costs what it changed."""
        short, second = self._short[id], int(now)
        known = self._made.get(id)
        if known is None or known[0] is not raw or known[1:3] != (short, second):
            known = self._made[id] = (raw, short, second, row_of(raw, short, now))
        return known[3]

    def _is_looked_for(self, row: Row) -> bool:
        words = self.wanted.lower().split()
        text = self._text_of(row.full_id) + f" {row.state} {row.group} {row.repo}".lower()
        return all(word in text for word in words)

    def _text_of(self, id: str) -> str:
        """What can be searched of a session; made again only when its row changed."""
        raw = self.sessions[id]
        known = self._cleaned.get(id)
        if known is None or known[0] is not raw:
            parts = (
                raw.get(key) for key in ("id", "agent", "name", "cwd", "doing", "role", "title", "where")
            )
            known = (raw, " ".join(clean(part) for part in parts).lower())
            self._cleaned[id] = known
        return known[1]


def next_that_needs_you(rows: Sequence[Row], current: str | None) -> str | None:
    """The id of the next row that waits for its user, after the current one and then from the top."""
    waiting = [row.full_id for row in rows if row.group == "needs you"]
    if not waiting:
        return None
    ids = [row.full_id for row in rows]
    here = ids.index(current) if current in ids else -1
    return next((id for id in waiting if ids.index(id) > here), waiting[0])


def _is_shown(raw: "SessionRow") -> bool:
    return raw.get("liveness") != "ended" and not raw.get("provisional")
