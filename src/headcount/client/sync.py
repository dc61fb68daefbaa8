"""`headcount.Client`: the daemon for Python programs, in plain calls.

Rules
  1. A refusal is a value: `claim` returns a claim whose `granted` is false. Only entering it raises.
  2. Who is calling is the kernel's answer about this process: inside an agent it acts for that agent. With
     `own=True` this process itself holds, as `headcount hold` does.
  3. Calls of several threads wait for each other; a thread that waits in line needs a client of its own.
  4. A forked copy of the process speaks for itself: on its own connection, under its own lock (the one that was copied may
     be held by a thread that the copy does not have). Claims stay with the process that asked.

Not here: asyncio (aio.py), values (values.py), the questions (claims.py), callbacks' thread (event_stream.py), what makes no
sense (values.py).
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headcount.client import claims
from headcount.client.daemon_access import DaemonAccess as Reach
from headcount.client.daemon_access import quoted, reach
from headcount.client.event_stream import Listening, follow
from headcount.client.faults import Refused
from headcount.client.transport import connection
from headcount.client.values import (
    NOT_AN_AGENT,
    Claim,
    Event,
    Me,
    Session,
    check_here,
    check_item,
    check_wish,
    claim_fields,
    in_python,
    is_over,
    listed,
)

if TYPE_CHECKING:
    from headcount.wire.views import StreamEvent

OnSession = Callable[[Session], object]


class SerialAccess:
    """The way of one process to the daemon, one call at a time."""

    __slots__ = ("lock", "reach")

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.lock = threading.Lock()


class Client:
    """Asks the daemon of this user; starts one when there is none.

    >>> with headcount.Client() as client:
    ...     with client.claim("task:AUTH-12", own=True) as claim:
    ...         work(fence=claim.fence)
    """

    def __init__(
        self, home: str | None = None, *, autostart: bool = True, env: Mapping[str, str] | None = None
    ) -> None:
        self.env = environment(home, env)
        self._autostart = autostart
        self._lines: dict[int, SerialAccess] = {}  # by pid: a process that was forked makes its own
        self._line()
        self._listening: list[Listening] = []

    # --- claims --------------------------------------------------------------------------------------

    def claim(
        self,
        item: str,
        *,
        wait: float = 0.0,
        note: str | None = None,
        acting_as: str | None = None,
        until_empty: bool = False,
        own: bool = False,
        request: str | None = None,
    ) -> "ClientClaim":
        """Ask for an item; wait up to `wait` seconds in line. The result says whether it was granted."""
        check_wish(item, wait, acting_as, own, note=note, request=request)
        question = claims.acquire(
            item,
            request=request,
            wait=wait,
            note=note,
            acting_as=acting_as,
            until_empty=until_empty,
            own=own,
        )
        try:
            answer = claim_fields(self._ask(question))
            return ClientClaim(**answer, client=self, question=question, acting_as=acting_as)
        except BaseException as fault:  # also Ctrl-C, and what a signal handler raises
            claims.give_up(self.env, question, fault)
            if isinstance(fault, Refused):
                raise in_python(fault) from None
            raise

    def release(
        self, item: str, *, fence: int | None = None, force: bool = False, acting_as: str | None = None
    ) -> None:
        """Give an item back. `Refused` when it is not the caller's, `NotFound` when nobody holds it."""
        check_item(item)
        self._ask(claims.release(item, fence=fence, force=force, acting_as=acting_as))

    def check(self, item: str, fence: int) -> bool:
        """Whether that number is the item's current one: for whoever guards a resource."""
        check_item(item)
        return self._ask(claims.check(item, fence)).get("current") is True

    def claims(self) -> list[Claim]:
        """All that is held now, the oldest first."""
        return listed(self._ask(claims.held()))

    def history(self, item: str) -> list[Event]:
        """What became of an item, as far back as the journal goes."""
        check_item(item)
        return [Event.of(event) for event in self._ask(claims.held(item)).get("history") or ()]

    def handoff(self, item: str, to: str, *, fence: int | None = None) -> Claim:
        """Give a claim to another live session; the returned one has the new number."""
        check_item(item)
        return Claim(**claim_fields(self._ask(claims.hand_off(item, to, fence=fence))))

    # --- who is there --------------------------------------------------------------------------------

    def whoami(self) -> Me | None:
        """The session that this process belongs to; None outside every agent."""
        try:
            return Me.of(self._ask(claims.who_am_i()))
        except Refused as refused:
            if refused.code == NOT_AN_AGENT:
                return None
            raise

    def sessions(self, *, ended: bool = False) -> list[Session]:
        found = self._ask(connection.Question("GET", "/v1/sessions?all=1" if ended else "/v1/sessions"))
        return [Session.of(row) for row in found["sessions"]]

    def session(self, wanted: str) -> Session:
        """By id, the beginning of one, or name. `NotFound` when there is none."""
        return Session.of(self._ask(connection.Question("GET", f"/v1/sessions/{quoted(wanted)}")))

    def events(self, since: int | None = None) -> Iterator[Event]:
        """What happens, as it happens, for ever; resumed after a restart of the daemon. Begins with a
        `snapshot`, or, with `since`, with what came after that number."""
        own = reach(self.env, autostart=self._autostart)
        try:
            for data in follow(own, since):
                yield Event.of(data)
        finally:
            own.close()

    def on_start(self, call: OnSession) -> Listening:
        """Call back, from a thread, for each session that starts from now on. `close()` ends it."""
        return self._on("session.started", call)

    def on_end(self, call: OnSession) -> Listening:
        """Call back, from a thread, for each session that ends from now on. `close()` ends it."""
        return self._on("session.ended", call)

    # --- its life ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Claims stay: they belong to the process, not to the connection. A call of another thread ends with `Broken`,
        and its wait is withdrawn."""
        for listening in self._listening:
            listening.close()
        line = self._line()
        line.reach.leave()
        if line.lock.acquire(blocking=False):
            try:
                line.reach.close()
            finally:
                line.lock.release()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, question: connection.Question) -> Any:
        line = self._line()
        closes = line.reach.closes
        if claims.is_unconfirmed(line.reach.places.socket):
            claims.retry_withdrawals(self.env, autostart=self._autostart)
        with line.lock:
            line.reach.begin(closes)
            return claims.ask(line.reach, question)

    def _line(self) -> SerialAccess:
        pid = os.getpid()
        line = self._lines.get(pid)
        if line is None:
            made = SerialAccess(reach(self.env, autostart=self._autostart))
            line = self._lines.setdefault(pid, made)  # the same one for all threads
            for other in [each for each in self._lines if each != pid]:
                self._lines[other].reach.close()  # our copy of its descriptor
        return line

    def _on(self, kind: str, call: OnSession) -> Listening:
        listening = Listening(reach(self.env, autostart=self._autostart), heard_of(kind, call))
        self._listening.append(listening)
        return listening


@dataclass(frozen=True, slots=True)
class ClientClaim(Claim):
    """A claim with its client: `with client.claim(…) as claim:` gives back at the end what it was granted."""

    client: Client = field(repr=False, compare=False)
    question: connection.Question = field(repr=False, compare=False)
    acting_as: str | None = None
    asked_by: int = field(default_factory=os.getpid, repr=False, compare=False)  # the process

    def release(self) -> None:
        """Give it back; harmless when it is over already, or is the claim of the agent above. `WrongCall` in a forked
        copy of the process that asked."""
        if not self.granted or self.under is not None:
            return
        check_here(self.item, self.asked_by)
        try:
            self.client.release(self.item, fence=self.fence, acting_as=self.acting_as)
        except Refused as refused:
            if not is_over(refused):
                raise

    def is_current(self) -> bool:
        return self.fence is not None and self.client.check(self.item, self.fence)

    def __enter__(self) -> "ClientClaim":
        self.need()
        check_here(self.item, self.asked_by)
        return self

    def __exit__(self, *_: object) -> None:
        if self.asked_by != os.getpid():
            return  # a forked copy gives nothing back
        try:
            if not self.again:
                self.release()
                return
        except BaseException:  # not given back, as far as we know: withdrawn once the daemon can be asked
            claims.give_up(self.client.env, self.question)
            raise
        # The outer `with` of the same process gives it back, unless its caller has given up since.
        claims.give_up(self.client.env, self.question)


def environment(home: str | None, env: Mapping[str, str] | None) -> dict[str, str]:
    found = dict(os.environ if env is None else env)
    if home is not None:
        found["HEADCOUNT_HOME"] = home
    return found


def heard_of(kind: str, call: Callable[[Session], object]) -> "Callable[[StreamEvent], object]":
    """Calls back for events of that type only, with the session."""

    def heard(data: "StreamEvent") -> object:
        session = data.get("session")
        return call(Session.of(session)) if data.get("type") == kind and isinstance(session, dict) else None

    return heard
