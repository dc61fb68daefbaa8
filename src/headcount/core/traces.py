"""Traces: who was lately at work where, and which alarms stand for it. Memory only.

Rules of this file
  1. Nothing of it is stored: a restart forgets it, and a batch that is decided twice notes the same, within its own time.
  2. Bounded: of more than TRACES_MOST places the one longest untouched goes.

Not here: what follows from a trace (collision.py).
"""

from msgspec import Struct, field

from headcount.core.session import SessionId

TRACES_MOST = 10_000


class Place(Struct, frozen=True):
    """Where two could meet: a file, or a worktree on a branch."""

    kind: str  # "same-file", "same-worktree"
    path: str
    branch: str | None = None
    name: str = ""  # of the repository


class Pair(Struct, frozen=True):
    place: Place
    sessions: tuple[SessionId, SessionId]
    texts: tuple[str, str]  # the alarm on each row


class Traces(Struct):
    """Who was lately at work where, and which alarms were raised for it. Memory only."""

    places: dict[Place, dict[SessionId, float]] = field(default_factory=dict)  # -> when it last edited there
    pairs: dict[tuple[Place, SessionId, SessionId], Pair] = field(default_factory=dict)
    wishes: dict[SessionId, dict[Place, float]] = field(default_factory=dict)
    """What each is about to edit -> when it had edited there before; 0: never."""

    def wish(self, place: Place, session: SessionId) -> None:
        before = self.places.get(place, {}).get(session, 0.0)
        self.wishes.setdefault(session, {}).setdefault(place, before)

    def made(self, place: Place, session: SessionId) -> None:
        wishes = self.wishes.get(session, {})
        wishes.pop(place, None)
        if not wishes:
            self.wishes.pop(session, None)

    def drop_wishes(self, session: SessionId) -> None:
        """Whatever it was about to edit it did not."""
        for place, before in self.wishes.pop(session, {}).items():
            seen = self.places.get(place, {})
            if session in seen and before:
                seen[session] = before
            else:
                seen.pop(session, None)

    def note(self, place: Place, session: SessionId, edited_at: float) -> dict[SessionId, float]:
        seen = self.places.pop(place, {})  # the newest place stands last
        seen[session] = max(edited_at, seen.get(session, 0.0))
        self.places[place] = seen
        while len(self.places) > TRACES_MOST:
            del self.places[next(iter(self.places))]
        return seen
