"""The strip: what a session did over the last two hours, in one line of cells.

Rules of this file
  1. A cell shows the loudest of what happened in it: needs you before stopped, done, working, idle.
  2. Where headcount was blind the cell is hatched, where nothing was known it is empty. Nothing is filled in. The last
     cell is now: what is seen now is shown, however short that has been seen.
  3. A claim that was granted and a death have marks of their own, on top.

Not here: what happened (the daemon's timeline), its spans (core/timeline.py).
"""

from typing import Any

from headcount.present import time_text
from headcount.present.session_words import GROUP_OF_ACTIVITY
from headcount.tui.paint import Line

LOUD = ("needs you", "stopped", "done", "working", "unknown", "idle")
BLOCKS = {"needs you": "█", "stopped": "█", "done": "▆", "working": "▅", "unknown": "▂", "idle": "▁"}
BLIND, EMPTY, GRANTED, DIED = "░", " ", "◆", "✗"


def strip_of_lane(timeline: dict[str, Any], session: str, cells: int) -> Line:
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

    def cells_of(self, span: dict[str, Any]) -> range:
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
