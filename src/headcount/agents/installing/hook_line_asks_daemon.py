"""The two opt-in shell lines that ask the daemon: is this edit allowed, and what should a new session know.

Rules
  1. The daemon's answer is printed unchanged. Without an answer nothing is printed and the exit code is 0, so a
     stopped, slow or broken daemon never blocks the agent (G7).
  2. The request takes at most GUARD_WITHIN and goes to the unix socket, without proxies or curlrc.
  3. Paths are literal in the line, quoted for sh. A line is tried before it is installed.

Not here: the observing line (agents/installing/hook_line_mailbox.py), the answers (daemon/routes/guard.py, daemon/routes/session_context.py).
"""

import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from headcount.agents.installing.hook_line_mailbox import SHELL, Unquotable
from headcount.times import GUARD_WITHIN, TRY_LINE_WITHIN

GUARD, CONTEXT = "guard", "context"
KINDS = (GUARD, CONTEXT)

_OURS = re.compile(
    r"curl -q -sf -m [0-9.]+ .*--unix-socket .* http://localhost/v1/(guard|context)/[a-z-]+ "
    r"2>/dev/null; exit 0(?: # headcount \w+)?"
)

Questions = Mapping[str, tuple[str, str | None]]
"""The questions: kind -> the event, and the tools it is for."""


class AskLine(Struct, frozen=True):
    """One entry that asks: at which event, for which tools (None: for all), by which line."""

    kind: str
    event: str
    matcher: str | None
    command: str


class Asking(Struct, frozen=True):
    """Which questions an install adds or removes; installed ones that are not named stay."""

    socket: Path | None = None
    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def lines(self, there: Mapping[str, str], questions: Questions, agent: str) -> list[AskLine]:
        """The lines the settings should have, given our lines that are there now (kind -> line)."""
        kinds = [kind for kind in questions if kind in (set(there) | self.add) - self.drop]
        return [
            AskLine(kind, *questions[kind], line(self.socket, kind, agent) if self.socket else there[kind])
            for kind in kinds
        ]


AS_IT_IS = Asking()


def line(socket: Path, kind: str, agent: str) -> str:
    place = str(socket)
    if not place.startswith("/") or any(ord(sign) < 32 or ord(sign) == 127 for sign in place):
        raise Unquotable("the socket's path must be absolute and without control characters")
    return (
        f"curl -q -sf -m {GUARD_WITHIN} --noproxy '*' -H 'content-type: application/json' -H 'expect:' "
        f"--data-binary @- --unix-socket {shlex.quote(place)} http://localhost/v1/{kind}/{agent} "
        f"2>/dev/null; exit 0 # headcount {kind}"
    )


def kind_of(command: object) -> str | None:
    """Which of our asking lines this is, also for another state directory or an earlier version; None: not ours."""
    match = _OURS.fullmatch(command) if isinstance(command, str) else None
    return match.group(1) if match else None


def leads_to(command: str, socket: Path) -> bool:
    """Whether this line of ours asks that socket."""
    return f"--unix-socket {shlex.quote(str(socket))} " in command


def why_not(kind: str, agent: str) -> str | None:
    """Try the line without a daemon: it must print nothing and exit 0. Returns what failed, or None."""
    with tempfile.TemporaryDirectory(prefix="headcount-trial-") as place:
        nowhere = Path(place) / 'it\'s a "$HOME" socket'
        run = subprocess.Popen(
            [SHELL, "-c", line(nowhere, kind, agent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = run.communicate(b"{}", timeout=TRY_LINE_WITHIN)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            return "the line did not end"
    if run.returncode != 0:
        return f"the line exited {run.returncode}"
    return "the line printed something" if out or err else None
