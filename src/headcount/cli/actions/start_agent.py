"""Starting an agent: this process becomes it, or a new tmux window does.

Rules
  1. This process registers itself and then becomes the command (exec): pid and incarnation stay the same.
  2. The token is in a private file. Its path is in the environment; the token is nowhere else.
  3. A window runs headcount itself, which then does the same: what runs in the pane is the agent. Of the
     environment only what it needs to find the same daemon and the same programs is passed, since it is on a
     command line that others can read.

Not here: registering and tokens (daemon/), which command (commands/launch.py, commands/resume.py).
"""

import os
import sys
import time
from typing import TYPE_CHECKING

from headcount import times
from headcount.clean_text import clean, said
from headcount.cli import output
from headcount.client import claims
from headcount.client.daemon_access import VARIABLE, DaemonAccess
from headcount.client.faults import ClientFault, Refused
from headcount.core.values.terminal import Pane
from headcount.present import session_words
from headcount.system import tmux
from headcount.wire import exit_codes

if TYPE_CHECKING:
    from headcount.wire.views import Registered, SessionRow, Sessions

PASSED = ("HEADCOUNT_HOME", "PATH", "CLAUDE_CONFIG_DIR", "CODEX_HOME")


def become(client: DaemonAccess, program: str, command: list[str], registration: dict[str, object]) -> int:
    """Returns only when the command cannot be run."""
    environment = dict(os.environ)
    answer: Registered = client.post(
        "/v1/sessions/register", {**registration, "pid": os.getpid(), "launch": True}
    )
    environment.pop(VARIABLE, None)  # another session's, if we were started inside one
    if answer.get("token_file"):
        environment[VARIABLE] = str(answer["token_file"])
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(program, command, environment)  # noqa: S606 (no shell is the point)
    except OSError as error:
        return output.cannot_run(program, error)


def alive_elsewhere(raw: "SessionRow") -> Refused:
    """Somebody has the conversation: where, and what to do instead."""
    id = str(raw.get("id"))[: session_words.SHORTEST_ID]
    where = said(raw["where"]) if raw.get("where") else f"pid {raw.get('pid')}"
    return Refused(
        409,
        "alive-elsewhere",
        f"Conversation is alive in {id} ({where}); a second writer would fork it.",
        f"headcount {'jump' if raw.get('where') else 'show'} {id}, or --anyway.",
    )


# --- in a window -----------------------------------------------------------------------------------------


def in_window(
    client: DaemonAccess, session: str | None, directory: str, words: list[str], *, as_json: bool
) -> int:
    """Runs `headcount` with those words in a new window, and says where that is."""
    client.get("/healthz")  # a daemon must be there before the window asks it
    opened = tmux.open_window(
        _own_server(),
        session or None,
        directory,
        _passed(client),
        [sys.executable, "-P", "-m", "headcount", words[0], *_launcher(client), *words[1:]],
    )
    if not isinstance(opened, Pane):
        raise ClientFault(f"No window was opened: {opened.why}.", "See: headcount launch --help")
    raw = _registered(client, opened)
    if raw is None:
        raise ClientFault(
            f"The window {opened.text} was opened, and what was to run in it ended at once.",
            f"See why: {' '.join(words[:1])} without --tmux.",
        )
    if as_json:
        output.print_document({"session": raw, "tmux": {"socket": opened.socket, "pane": opened.id}})
    else:
        id = clean(raw.get("id"))[: session_words.SHORTEST_ID]
        print(f"{id} runs in {clean(opened.text)}. Go there: headcount jump {id}")
    return exit_codes.DONE


def _registered(client: DaemonAccess, pane: Pane) -> "SessionRow | None":
    """The session of the window's process; None: the window is gone without one."""
    until = time.monotonic() + times.READY_WITHIN
    while time.monotonic() < until:
        found: Sessions = client.get("/v1/sessions")
        for raw in found["sessions"]:
            if raw.get("pid") == pane.pid:
                return raw
        panes = tmux.list_panes(pane.socket)
        if not isinstance(panes, tmux.Unreachable) and not _is_open(pane, panes):
            return None
        time.sleep(times.WINDOW_LOOKED_AT_EVERY)
    return None


def _is_open(pane: Pane, panes: "list[Pane] | tmux.NoServer") -> bool:
    return isinstance(panes, list) and any(each.id == pane.id and not each.dead for each in panes)


def _own_server() -> str | None:
    """The server that we are in; None: the one that tmux takes by itself."""
    socket = os.environ.get("TMUX", "").rsplit(",", 2)[0]
    return socket if socket.startswith("/") else None


def _launcher(client: DaemonAccess) -> list[str]:
    """The session that opens the window, for the headcount in it. Not by the environment: tmux gives that to every later
    window of a new session, too."""
    try:
        return ["--launched-by", str(claims.ask(client, claims.who_am_i())["session"])]
    except ClientFault:  # outside every agent nobody is named
        return []


def _passed(client: DaemonAccess) -> dict[str, str]:
    found = {name: os.environ[name] for name in PASSED if name in os.environ}
    return found | ({"HEADCOUNT_HOME": client.places.home} if client.places.home else {})
