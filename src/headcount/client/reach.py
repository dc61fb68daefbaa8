"""Reaching the daemon: ask, start it when nobody listens, replace it when it is older than we are.

Rules of this file
  1. A real request decides whether there is a daemon, never a file (accident H3).
  2. The version is compared at the first answer (H10). An older daemon is restarted once; a newer one
     is used as it is; each is said in one line.
  3. One question, one round trip: the first answer is the version check.

Not here: HTTP (connection.py), how a daemon is started (start.py).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headcount import __version__, times
from headcount.client.connection import Answer, Connection, Listener
from headcount.client.faults import Broken, NotRunning, Refused, Unavailable, refusal
from headcount.client.sse import ServerSentEvent
from headcount.client.token import credential
from headcount.paths import Places

Say = Callable[[str], None]

VERSION_HEADER = "headcount-version"


def reach(
    env: Mapping[str, str],
    *,
    autostart: bool = True,
    say: Say = lambda line: None,
    version: str = __version__,
) -> "Client":
    """A client of the daemon of this environment. Nothing is asked yet."""
    return Client(Places.from_environ(env), env, autostart=autostart, say=say, version=version)


class Client:
    def __init__(
        self, places: Places, env: Mapping[str, str], *, autostart: bool, say: Say, version: str = __version__
    ) -> None:
        self.places = places
        self.started = False  # whether we had to start the daemon
        self.meanwhile: Callable[[], object] | None = None  # done while a daemon that we started gets ready
        self._env = env
        self._autostart = autostart
        self._say = say
        self._version = version
        self._compared = False
        self.hung_up = False  # by its owner: whoever follows the stream ends
        self._stream: Connection | None = None
        self._credential = credential(env)
        self._connection = Connection(places.socket, self._credential)

    def get(self, path: str) -> Any:
        return self.ask("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.ask("POST", path, {} if body is None else body)

    def delete(self, path: str) -> Any:
        return self.ask("DELETE", path)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The data of a good answer; every other outcome is a fault."""
        answer = self.answer(method, path, body)
        if answer.status >= 400:
            raise refusal(answer.status, answer.data)
        return answer.data

    def answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        within: float = times.CALL_WITHIN,
        again: bool = False,
    ) -> Answer:
        """The daemon's answer, also a refusing one. `again`: it may be asked twice without harm."""
        if not self._compared and method != "GET" and not again:
            self.ask("GET", "/healthz")  # only a question may be asked twice
        began = time.monotonic()
        answer = self._met(method, path, body, within, again or method == "GET")
        if not self._compared:
            self._compared = True
            if self._replaced(answer):
                spent = time.monotonic() - began
                answer = self._met(method, path, body, within, again or method == "GET", spent)
        return answer

    def events(
        self,
        last_event_id: int | None = None,
        until: float | None = None,
        listener: Listener | None = None,
    ) -> Iterator[ServerSentEvent]:
        if not self._compared:
            self.ask("GET", "/healthz")
        last = None if last_event_id is None else str(last_event_id)
        self._stream = Connection(self.places.socket, self._credential)
        path = "/v1/events" if listener is None else f"/v1/events?every={times.SCREEN_PING_EVERY:.0f}"
        return self._stream.stream(path, last, until, listener)

    def hang_up(self) -> None:
        """Ends a stream that another thread reads."""
        self.hung_up = True
        if self._stream is not None:
            self._stream.interrupt()

    def close(self) -> None:
        self._connection.close()

    @property
    def closes(self) -> int:
        return self._connection.closes

    def begin(self, closes: int) -> None:
        """A call that began when it had been closed so often: whoever closes it since ends the call."""
        self._connection.since = closes

    def leave(self) -> None:
        """Ends the call of another thread, which does not ask again."""
        self._connection.leave()

    def start(self) -> None:
        from headcount.client.start import start  # 6 ms of imports, and nearly never needed

        start(self.places, self._env, self.meanwhile)
        self.started = True

    def stop(self) -> bool:
        """Ask the daemon to stop and wait until it is gone; False: there was none."""
        from headcount.client.gone import Departure

        try:
            health = self._connection.call("GET", "/healthz").data
        except NotRunning:
            return False
        with Departure(
            health.get("pid") if isinstance(health, dict) else None, self.places.socket
        ) as departure:
            try:
                answer = self._connection.call("POST", "/v1/stop", {})
                if answer.status >= 400:
                    raise refusal(answer.status, answer.data)
            except Broken:
                pass  # it was quicker than its answer
            self.close()
            departure.wait()
        return True

    def _met(
        self, method: str, path: str, body: Any, within: float, again: bool, spent: float = 0.0
    ) -> Answer:
        """An answer of a daemon, started now if nobody listens."""
        began = time.monotonic() - spent
        was_started, broken = False, None  # of this call: a daemon that stopped since is started again
        while True:
            try:
                return self._connection.call(method, path, rest(body, spent), time_left(within, spent))
            except NotRunning as fault:
                if not self._autostart or was_started:
                    raise broken or fault from None  # what broke may have been heard
                self.start()
                was_started = True
            except Broken as fault:  # it was stopping; soon somebody else listens, or nobody
                was_started, broken = False, fault
                if self._connection.is_left or not again or time.monotonic() >= began + within:
                    raise
                time.sleep(times.CONNECT_RETRY_EVERY)
            spent = time.monotonic() - began

    def _replaced(self, answer: Answer) -> bool:
        theirs = answer.headers.get(VERSION_HEADER)
        if theirs is None:
            raise Unavailable(
                "Something that is not headcount answers on the socket.", "See: headcount doctor"
            )
        if theirs == self._version:
            return False
        if order(theirs) >= order(self._version):
            self._say(f"The daemon is headcount {theirs}, newer than this command ({self._version}).")
            return False
        return self._restart(theirs)

    def _restart(self, theirs: str) -> bool:
        if self.started or not self._autostart:
            self._say(f"The daemon is headcount {theirs}, older than this command ({self._version}).")
            return False
        try:
            self.stop()
        except Refused:
            self._say(f"The daemon is headcount {theirs} and refused to be restarted as {self._version}.")
            return False
        self.start()
        self._say(f"Restarted the daemon: it was headcount {theirs}, now {self._version}.")
        return True


def rest(body: Any, spent: float) -> Any:
    """What is asked again waits in line for what is left of its time, not from the beginning."""
    wait = body.get("wait") if isinstance(body, dict) else None
    return body if not wait or not spent else {**body, "wait": max(wait - spent, 0.0)}


def time_left(within: float, spent: float) -> float:
    """A daemon that was just started has the usual time for its answer."""
    return max(within - spent, min(within, times.CALL_WITHIN))


def order(version: str) -> tuple[int, ...]:
    """Versions in their order: the numbers before anything else is said; a pre-release counts as its release."""
    numbers = []
    for part in version.split("+")[0].split("."):
        digits = ""
        for character in part:
            if not ("0" <= character <= "9"):
                break
            digits += character
        if not digits:
            break
        numbers.append(int(digits))
    while numbers and numbers[-1] == 0:
        numbers.pop()  # 1.2 and 1.2.0 are one version
    return tuple(numbers)


PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_QUOTED = {byte: f"%{byte:02X}" for byte in range(128) if byte not in PLAIN}


def quoted(text: str) -> str:
    """Percent-encoded for a path segment or a query value (urllib.parse costs 5 ms of import)."""
    if text.isascii():
        return text.translate(_QUOTED)
    return "".join(
        chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass")
    )
