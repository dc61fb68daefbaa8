"""Traces: who was lately at work where, and which alarms stand for it. Memory only.

Rules
  1. Nothing of it is stored: a restart forgets it.
  2. A batch notes on layers above it, which become true with its commit, or are dropped.
  3. Bounded: of more than TRACES_MOST places those longest untouched are dropped when a batch settles.

Not here: what follows from a trace (core/collisions.py).
"""

from itertools import islice

from msgspec import Struct, field

from headcount.core.state.overlay_map import OverlayMap
from headcount.core.values.session import SessionId

TRACES_MOST = 10_000
WISHES_MOST = 100  # of one session; what it is about to edit beyond that counts as edited


class EditPlace(Struct, frozen=True):
    """Where two could meet: a file, or a worktree on a branch."""

    kind: str  # "same-file", "same-worktree"
    path: str
    branch: str | None = None
    name: str = ""  # of the repository


class Pair(Struct, frozen=True):
    place: EditPlace
    sessions: tuple[SessionId, SessionId]
    texts: tuple[str, str]  # the alarm on each row


class RecentEdits(Struct):
    """Who was lately at work where, and which alarms were raised for it. No value in it is changed in place."""

    places: dict[EditPlace, dict[SessionId, float]] = field(
        default_factory=dict
    )  # -> when it last edited there
    pairs: dict[tuple[EditPlace, SessionId, SessionId], Pair] = field(default_factory=dict)
    wishes: dict[SessionId, dict[EditPlace, float]] = field(default_factory=dict)
    """What each is about to edit -> when it had edited there before; 0: never."""


class RecentEditsDraft:
    """The traces as they will be if the batch is committed."""

    def __init__(self, traces: RecentEdits) -> None:
        self._traces = traces
        self.places = OverlayMap(traces.places)
        self.pairs = OverlayMap(traces.pairs)
        self.wishes = OverlayMap(traces.wishes)

    def wish(self, place: EditPlace, session: SessionId) -> None:
        mine = self.wishes.get(session, {})
        if len(mine) < WISHES_MOST:
            self.wishes[session] = {place: self.places.get(place, {}).get(session, 0.0), **mine}

    def made(self, place: EditPlace, session: SessionId) -> None:
        wishes = {each: at for each, at in self.wishes.get(session, {}).items() if each != place}
        if wishes:
            self.wishes[session] = wishes
        elif session in self.wishes:
            del self.wishes[session]

    def drop_wishes(self, session: SessionId) -> None:
        """Whatever it was about to edit it did not."""
        for place, before in self.wishes.get(session, {}).items():
            if session in self.places.get(place, {}):
                self.set(place, session, before or None)
        if session in self.wishes:
            del self.wishes[session]

    def note(self, place: EditPlace, session: SessionId, edited_at: float) -> None:
        self.set(place, session, max(edited_at, self.places.get(place, {}).get(session, 0.0)))

    def set(self, place: EditPlace, session: SessionId, edited_at: float | None) -> None:
        """None: it was not there."""
        others = {id: at for id, at in self.places.get(place, {}).items() if id != session}
        self.places[place] = others if edited_at is None else {**others, session: edited_at}

    def settle(self) -> None:
        self.places.settle(moved=True)
        for layer in (self.pairs, self.wishes):
            layer.settle()
        places = self._traces.places
        for oldest in list(islice(places, max(0, len(places) - TRACES_MOST))):
            del places[oldest]
