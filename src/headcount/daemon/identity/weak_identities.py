"""Weak identities: names that several sessions share or that move from one to the next.

Rules
  1. A terminal, a port, a directory, a number and "the newest" name nobody. They are refused by name, so
     that whoever offers one learns it, and counted (accidents I2, I3, I4).
  2. A session's own id, conversation or name is none of these.

Not here: who is calling (caller.py), finding a session by its id or name (daemon/api/session_selector.py).
"""

import re
from collections.abc import Iterable

WEAK_HEADERS = {
    "x-terminal-id": "a terminal",
    "x-terminal": "a terminal",
    "x-term-session-id": "a terminal",
    "x-tty": "a terminal",
    "x-tmux-pane": "a terminal",
    "x-port": "a port",
    "x-sse-port": "a port",
    "x-cwd": "a directory",
    "x-directory": "a directory",
}
WEAK_PARAMETERS = {
    "terminal": "a terminal",
    "terminal_id": "a terminal",
    "tty": "a terminal",
    "pane": "a terminal",
    "port": "a port",
    "sse_port": "a port",
    "cwd": "a directory",
    "directory": "a directory",
    "newest": "the newest session",
}

SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"win-[a-z]+-\d+"), "a port"),  # `win-cc-39623`, an editor window's port
    (re.compile(r"(?:sse-?)?port[-_:]?\d+"), "a port"),
    (re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])?:\d{1,5}"), "a port"),
    (re.compile(r"(?:/dev/)?(?:pts|tty)/?[A-Za-z0-9]*[-_:]?\d+"), "a terminal"),
    (re.compile(r"(?:term|terminal|pane|window|tab|console|tmux)[-_:]?[%@$]?\d+"), "a terminal"),
    (re.compile(r"[%@$]\d+"), "a terminal"),  # tmux: pane, window, session
    (re.compile(r"w\d+t\d+p\d+(?::.*)?"), "a terminal"),  # iTerm's TERM_SESSION_ID
    (re.compile(r"[~.]|[~.]{0,2}/.*"), "a directory"),
    (re.compile(r"newest|latest|last|current|most[-_ ]recent"), "the newest session"),
)
NUMBER = re.compile(r"\d{1,10}")


def weak(text: str) -> str | None:
    """What such a name is of; None: it is not weak."""
    return next((of for shape, of in SHAPES if shape.fullmatch(text)), None)


def weak_conversation(text: str) -> str | None:
    """A number alone is a pid or a port; as the beginning of a session's id it would be fine."""
    return "a number that others have too" if NUMBER.fullmatch(text) else weak(text)


def weak_in(headers: Iterable[str], parameters: Iterable[str]) -> tuple[str, str] | None:
    """The first weak identity that a request offers, and what it is of."""
    given = set(headers)
    for name, of in WEAK_HEADERS.items():
        if name in given:
            return name, of
    return next(((name, WEAK_PARAMETERS[name]) for name in parameters if name in WEAK_PARAMETERS), None)
