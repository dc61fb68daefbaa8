"""The feed: the stream in a thread of its own, and the questions behind a row.

Rules
  1. Events are put in a line and the screen is woken once; who draws takes all that is there.
  2. A lost connection is told at once, with the time of the last sign of life, and tried again for ever, ever
     slower: a screen that is left open must come back by itself. A daemon that hangs is lost too. It starts no
     daemon: whoever stopped it meant it.
  3. A question that fails, or whose route does not exist, has the answer None: nothing is shown.

Not here: what is made of events (sessions.py), drawing (app.py).
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from headcount import times
from headcount.client.daemon_access import DaemonAccess, quoted, reach
from headcount.client.event_stream import follow
from headcount.client.faults import ClientFault

if TYPE_CHECKING:
    from headcount.wire.views import (
        ClaimRow,
        Claims,
        Explanation,
        LeftoverRow,
        Leftovers,
        StreamEvent,
        Timeline,
        Today,
    )


class Lists(TypedDict):
    """None: there is no such route, or no answer."""

    claims: "list[ClaimRow] | None"
    leftovers: "list[LeftoverRow] | None"


class SideLists(NamedTuple):
    lists: Lists
    waited: float  # seconds of today in which at least one agent waited for its user


class Feed:
    def __init__(self, env: Mapping[str, str], wake: Callable[[], object]) -> None:
        self._env = env
        self._wake = wake
        self._waiting: deque[StreamEvent] = deque()
        self._client: DaemonAccess | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._heard_at: float | None = None
        self.lost_since: float | None = None  # wall clock; None: the stream is there

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._client is not None:
            self._client.hang_up()
        if self._thread.is_alive():
            self._thread.join(times.TUI_TICK)

    def drain(self) -> "list[StreamEvent]":
        """All events that came since the last time."""
        taken = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken

    def ask(self, path: str) -> Any:
        """The daemon's answer; None: it has none. Blocks: for a thread."""
        client = reach(self._env, autostart=False)
        try:
            return client.get(path)
        except ClientFault:
            return None
        finally:
            client.close()

    def behind(self, session: str) -> "tuple[Explanation | None, Timeline | None]":
        """The explanation of a session, and its timeline."""
        name = quoted(session)
        return self.ask(f"/v1/sessions/{name}/explain"), self.ask(f"/v1/timeline?session={name}")

    def beside(self) -> SideLists:
        """Claims, leftovers, and how long agents waited today."""
        claims: Claims | None = self.ask("/v1/claims")
        leftovers: Leftovers | None = self.ask("/v1/leftovers")
        today: Today | None = self.ask("/v1/today")
        lists: Lists = {
            "claims": list(claims.get("claims") or ()) if isinstance(claims, dict) else None,
            "leftovers": list(leftovers.get("leftovers") or ()) if isinstance(leftovers, dict) else None,
        }
        waited = today.get("any_s") if isinstance(today, dict) else None
        return SideLists(lists, float(waited) if isinstance(waited, int | float) else 0.0)

    # --- the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        last: int | None = None
        wait = times.CONNECT_RETRY_EVERY
        while not self._over.is_set():
            self._client = reach(self._env, autostart=False)
            try:
                for event in follow(self._client, last, listener=self):
                    last, wait = int(event["seq"]), times.CONNECT_RETRY_EVERY
                    self._put(event)
            except ClientFault:
                if self._over.is_set():
                    return
                self.broke()
            finally:
                self._client.close()
            self._over.wait(wait)
            wait = min(wait * 2, times.TUI_RECONNECT_MOST)

    def _put(self, event: "StreamEvent") -> None:
        first = not self._waiting
        self._waiting.append(event)
        if first:
            self._wake()

    def heard(self) -> None:
        self._heard_at = time.time()
        if self.lost_since is not None:
            self.lost_since = None
            self._wake()

    def broke(self) -> None:
        if self.lost_since is None:
            self.lost_since = self._heard_at or time.time()
        self._wake()
