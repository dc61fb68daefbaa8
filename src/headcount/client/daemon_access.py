"""Reach the daemon: send requests, start it when nobody listens, replace it when its code is older than ours.

Rules
  1. A real request decides whether there is a daemon, never a file (accident H3).
  2. Version and build are compared at the first answer (H10). A daemon of this installation that runs older
     code is restarted. A newer one, or one of another installation, is used as it is. One line says which.
  3. One question is one round trip: the first answer is also the version check.
  4. A daemon inside a sandbox or a container sees neither our agents nor us. A client that meets it from
     outside says so; `up` and `down` end it through the kernel's handle of the listening process.
  5. The environment names the file of a launched session's token (`HEADCOUNT_TOKEN_FILE`). The token is sent in
     a header and appears in no argument, variable, listing or log.
  6. A token file that is missing or malformed counts as no token: the kernel's evidence on the caller decides
     anyway.

Not here: HTTP (client/transport/connection.py), how a daemon is started (client/daemon_process.py), making
  tokens and what they allow (daemon/identity/tokens.py).
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headcount import __version__, build_and_namespaces, times
from headcount.client.faults import Broken, NotRunning, Refused, Unavailable, refusal
from headcount.client.transport.connection import Connection, Response, StreamListener, rest, time_left
from headcount.client.transport.response import ServerSentEvent
from headcount.paths import Places

Say = Callable[[str], None]

VERSION_HEADER = "headcount-version"

PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_QUOTED = {byte: f"%{byte:02X}" for byte in range(128) if byte not in PLAIN}

VARIABLE = "HEADCOUNT_TOKEN_FILE"
SCHEME = "Headcount-Session"
TOKEN_MOST = 256


def reach(
    env: Mapping[str, str],
    *,
    autostart: bool = True,
    say: Say = lambda line: None,
    version: str = __version__,
) -> "DaemonAccess":
    """A client of the daemon of this environment. Nothing is asked yet."""
    return DaemonAccess(Places.from_environ(env), env, autostart=autostart, say=say, version=version)


class DaemonAccess:
    def __init__(
        self, places: Places, env: Mapping[str, str], *, autostart: bool, say: Say, version: str = __version__
    ) -> None:
        self.places = places
        self.started = False  # whether we had to start the daemon
        self.openly = False  # `up`: a person asks for a daemon here, and not only for an answer
        self.before_signal: Callable[[], object] = lambda: (
            None
        )  # may refuse to end a daemon that cannot see who asks
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

    def post(self, path: str, body: object = None) -> Any:
        return self.ask("POST", path, {} if body is None else body)

    def delete(self, path: str) -> Any:
        return self.ask("DELETE", path)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The data of a good answer; every other outcome is a fault."""
        answer = self.answer(method, path, body)
        if answer.status >= 400:
            raise refusal(answer.status, answer.data)
        return answer.data

    def answer(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        within: float = times.CALL_WITHIN,
        again: bool = False,
    ) -> Response:
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
        listener: StreamListener | None = None,
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
        from headcount.client.daemon_process import start  # 6 ms of imports, and nearly never needed

        if build_and_namespaces.is_foreign(self.places.record, openly=self.openly):
            raise NotRunning(
                f"No headcount daemon is running, and none is started in this sandbox or container: {self.places.state} "
                "was last used from other namespaces.",
                "Start it there, or give this one a home of its own: HEADCOUNT_HOME=/a/directory headcount up",
            )
        start(self.places, self._env, self.meanwhile)
        self.started = True

    def stop(
        self, is_meant: Callable[[build_and_namespaces.BuildOrigin | None], bool] = lambda theirs: True
    ) -> bool:
        """Ask the daemon to stop and wait until it is gone; False: there was none, or not the one that is meant (several
        callers may meet an older daemon at once, and the first of them replaces it)."""
        from headcount.client.daemon_process import Departure

        health = self._health()
        if health is None:
            return False
        theirs = build_and_namespaces.from_header(health.headers.get(build_and_namespaces.HEADER))
        if not is_meant(theirs):
            return False
        enclosed = build_and_namespaces.is_enclosed(theirs, self.daemon_pid)
        own_word = health.data.get("pid") if isinstance(health.data, dict) else None
        with Departure(self.daemon_pid if enclosed else own_word, self.places.socket) as departure:
            if enclosed:
                self.before_signal()
                self._connection.terminate_listener()  # it cannot see who asks, so it would refuse
            else:
                self._ask_to_stop()
            self.close()
            departure.wait()
        return True

    def _health(self) -> Response | None:
        """None: there is no daemon. One whose socket was removed listens again within moments; one that does not is
        named."""
        from headcount.client.daemon_process import deaf_holder

        deadline = time.monotonic() + times.START_AGAIN_AFTER
        while True:
            try:
                return self._connection.call("GET", "/healthz")
            except NotRunning:
                if (deaf := deaf_holder(self.places)) is None:
                    return None
                if time.monotonic() >= deadline:
                    raise deaf from None
                time.sleep(times.CONNECT_RETRY_EVERY)

    def _ask_to_stop(self) -> None:
        try:
            answer = self._connection.call("POST", "/v1/stop", {})
        except Broken:
            return  # it was quicker than its answer
        if answer.status >= 400:
            raise refusal(answer.status, answer.data)

    @property
    def daemon_pid(self) -> int:
        """Of whoever listens, as it is seen from here; 0: it is not known."""
        return self._connection.daemon_pid

    def _met(
        self, method: str, path: str, body: object, within: float, again: bool, spent: float = 0.0
    ) -> Response:
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

    def _replaced(self, answer: Response) -> bool:
        theirs = answer.headers.get(VERSION_HEADER)
        if theirs is None:
            raise Unavailable(
                "Something that is not headcount answers on the socket.", "See: headcount doctor"
            )
        came = build_and_namespaces.from_header(answer.headers.get(build_and_namespaces.HEADER))
        if build_and_namespaces.is_enclosed(came, self.daemon_pid):
            return self._replaced_enclosed()
        if came is not None and came.installation != build_and_namespaces.installation():
            self._say(
                f"The daemon is headcount {theirs} of another installation. To run this one ({self._version}): "
                "headcount down, then headcount up"
            )
            return False
        if theirs == self._version and came is not None and came.build == build_and_namespaces.installed():
            return False
        if order(theirs) > order(self._version):
            self._say(f"The daemon is headcount {theirs}, newer than this command ({self._version}).")
            return False
        return self._restart(theirs, came)

    def _replaced_enclosed(self) -> bool:
        pid = self.daemon_pid
        if not self.openly:
            self._say(
                f"The daemon (pid {pid}) runs in a sandbox or container and does not see the agents out here. "
                "Replace it: headcount up"
            )
            return False
        self.stop()
        self.start()
        self._say(f"Replaced the daemon (pid {pid}): it ran in a sandbox or container.")
        return True

    def _restart(self, theirs: str, came: build_and_namespaces.BuildOrigin | None) -> bool:
        older = f"headcount {theirs}" if theirs != self._version else "of another build"
        if self.started or not self._autostart:
            self._say(
                f"The daemon is {older}, and {self._version} is installed now. Restart it: headcount up"
            )
            return False
        try:
            stopped = self.stop(lambda theirs: theirs == came)
        except Unavailable:
            stopped = False  # another caller stops it at this moment: a start waits for that
        except Refused:
            self._say(
                f"The daemon is {older}, and {self._version} is installed now. A person restarts it: headcount up"
            )
            return False
        self.start()
        if stopped:
            self._say(f"Restarted the daemon: it was {older}, now {self._version}.")
        return True


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


def quoted(text: str) -> str:
    """Percent-encoded for a path segment or a query value (urllib.parse costs 5 ms of import)."""
    if text.isascii():
        return text.translate(_QUOTED)
    return "".join(
        chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass")
    )


def credential(env: Mapping[str, str]) -> str:
    """The value of the Authorization header; empty without a token."""
    path = env.get(VARIABLE)
    token = _read(path) if path else ""
    good = token.isascii() and token.isprintable() and not any(sign.isspace() for sign in token)
    return f"{SCHEME} {token}" if token and good else ""


def _read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(fd, TOKEN_MOST).decode("ascii", "replace").strip()
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return ""  # the session it was for is over
