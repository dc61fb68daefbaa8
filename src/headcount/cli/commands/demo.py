"""`headcount demo`: harmless stand-ins work, wait and die, watched by a daemon of their own, in about twenty seconds.

Rules
  1. On a terminal the table is redrawn in place; in a pipe every event is a line; --json is NDJSON.
  2. Whatever happens, what was started is ended: the sandbox is closed in `finally`. A closed terminal (SIGHUP) and
     SIGTERM end it as Ctrl-C does.
  3. To the kernel the stand-ins are agents, so a daemon of your own sees them too. If one runs, the demo says so.
  4. The script is a table: a fraction of the whole, an actor, and what it reports.

Not here: how a stand-in is made (actions/demo_sandbox.py), words and table (present/).
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from headcount import times
from headcount.clean_text import clean
from headcount.cli import output
from headcount.cli.actions.demo_sandbox import Stage
from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from headcount.paths import Places
from headcount.present import event_lines, time_text
from headcount.present.screen import Screen, standard
from headcount.present.session_words import rows_of
from headcount.present.table import draw
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import EventRow, Sessions

TOLD_MOST = 6
SIGNAL_BASE = 128  # as shells report a death by a signal
SEEN_TOO = "Your own headcount is up and sees them too: four agents without a name, which soon end."
NOTE = "A daemon of your own that runs sees the stand-ins too, and keeps their ends in its history."
Told = tuple[float, "EventRow"]  # when it was heard, on the monotonic clock, and the event

CAST = (
    ("i18n", "web", "i18n"),
    ("auth-refactor", "api", "auth-12"),
    ("docs-sweep", "docs", "main"),
    ("bench-sqlite", "core", "bench"),
)

VICTIM = "i18n"

KILL = "SIGKILL"


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--seconds", type=seconds, default=times.DEMO_SECONDS, metavar="N", help="how long it plays"
    )


def seconds(text: str) -> float:
    from argparse import ArgumentTypeError

    span = time_text.parse_span(text)
    if not span:
        raise ArgumentTypeError(f'"{clean(text)}" is no length; write 20 or 1m')
    return span


def run(args: "VerbArguments") -> int:
    screen = standard()
    if not args.json:
        print("Four stand-in agents, a daemon of their own, all in a temporary directory.", flush=True)
        if _is_watched():
            print(SEEN_TOO, flush=True)
    _end_in_order()
    stage = Stage(os.environ)
    try:
        show = Show(stage, screen, as_json=args.json)
        show.perform(args.seconds)
    finally:
        stage.close()
    if not args.json:
        output.print_lines(show.farewell())
    return exit_codes.DONE


def _is_watched() -> bool:
    """Whether a daemon of the house runs; it is not started to be asked."""
    connection = Connection(Places.from_environ(os.environ).socket)
    try:
        return connection.call("GET", "/healthz", within=times.STATUSLINE_WITHIN).status < 400
    except ClientFault:
        return False
    finally:
        connection.close()


def _end_in_order() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
            signal.signal(number, _told_to_end)


def _told_to_end(number: int, _: object) -> NoReturn:
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # once is enough: what follows is the clearing up
    raise SystemExit(SIGNAL_BASE + number)


class Show:
    def __init__(self, stage: Stage, screen: Screen, as_json: bool) -> None:
        self._stage = stage
        self._screen = screen
        self._json = as_json
        self._in_place = screen.columns is not None and not as_json
        self._heard: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._told: list[str] = []
        self._drawn = 0  # lines of the last frame
        self._killed_at: float | None = None
        self._victim: int | None = None
        self._latency: float | None = None

    def perform(self, length: float) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        actors = {name: self._stage.enter(name, repository, branch) for name, repository, branch in CAST}
        self._pids = {actor.pid for actor in actors.values()}
        began = time.monotonic()
        for cue in CUES:
            self._until(began + cue.at * length)
            if cue.event == KILL:
                self._victim, self._killed_at = actors[cue.actor].pid, time.monotonic()
                actors[cue.actor].die()
            else:
                actors[cue.actor].reports(cue.event, **cue.fields)
        self._until(began + length)
        self._frame()

    def farewell(self) -> list[str]:
        lines = [""]
        if self._latency is not None:
            lines.append(
                f"{VICTIM} was killed with SIGKILL and reported dead {self._latency * 1000:.1f} ms later."
            )
        return [
            *lines,
            "Everything the demo started is gone again. Now with your own agents:",
            "  headcount up          start watching; it finds those that already run",
            "  headcount             what runs, what needs you first",
            "  headcount explain S   on which evidence",
            "  headcount watch       what happens, as it happens",
        ]

    def _listen(self) -> None:
        try:
            for event in self._stage.client.events():
                if event.type != "snapshot":
                    self._heard.put((time.monotonic(), json.loads(event.data)))
        except ClientFault:
            pass  # the daemon was stopped: the play is over

    def _until(self, moment: float) -> None:
        """Tell and draw what happens until then."""
        if self._in_place:
            self._frame()
        while (left := moment - time.monotonic()) > 0:
            try:
                at, event = self._heard.get(timeout=min(left, times.DEMO_FRAME))
            except queue.Empty:
                if self._in_place:
                    self._frame()
                continue
            self._tell(at, event)

    def _tell(self, at: float, event: "EventRow") -> None:
        session = event.get("session") or {}
        if session.get("pid") not in self._pids:
            return  # an agent of the house that the daemon also found
        if (
            event["type"] == "session.ended"
            and session["pid"] == self._victim
            and self._killed_at is not None
        ):
            self._latency = at - self._killed_at
        if self._json:
            output.print_line(event)
            return
        if not event_lines.is_told(event) or event["type"] == "session.examined":
            return  # a stand-in holds and leaves nothing: its aftermath would say the resume once more
        lines = event_lines.lines_of(event, self._screen, time.time())
        if self._in_place:
            self._told = [*self._told, *lines][-TOLD_MOST:]
            self._frame()
        else:
            print("\n".join(lines), flush=True)

    def _frame(self) -> None:
        if self._json:
            return
        answer: Sessions = self._stage.client.get("/v1/sessions?all=1")
        ours = [raw for raw in answer["sessions"] if raw.get("pid") in self._pids]
        lines = [*draw(rows_of(ours, time.time()), self._screen), "", *self._told]
        back = f"\x1b[{self._drawn}A\x1b[J" if self._in_place and self._drawn else ""
        sys.stdout.write(back + "\n".join(lines) + "\n")
        sys.stdout.flush()
        self._drawn = len(lines)


class Cue(NamedTuple):
    at: float  # of the whole, 0 to 1
    actor: str
    event: str  # a hook event, or KILL
    fields: dict[str, object] = {}  # noqa: RUF012 (never changed)


def _tool(name: str, **tool_input: str) -> dict[str, object]:
    return {"tool_name": name, "tool_input": tool_input, "tool_use_id": "toolu_demo"}


CUES = (
    *(
        Cue(0.02 * index, name, "SessionStart", {"source": "startup"})
        for index, (name, _, _) in enumerate(CAST)
    ),
    Cue(0.10, "i18n", "UserPromptSubmit", {"prompt": "translate"}),
    Cue(0.12, "auth-refactor", "UserPromptSubmit", {"prompt": "migrate"}),
    Cue(0.14, "docs-sweep", "UserPromptSubmit", {"prompt": "sweep"}),
    Cue(0.16, "bench-sqlite", "UserPromptSubmit", {"prompt": "measure"}),
    Cue(0.20, "i18n", "PreToolUse", _tool("Edit", file_path="locales/fr.json")),
    Cue(0.22, "bench-sqlite", "PreToolUse", _tool("Bash", command="make bench")),
    Cue(0.25, "docs-sweep", "PreToolUse", _tool("Edit", file_path="docs/index.md")),
    Cue(0.30, "auth-refactor", "PreToolUse", _tool("Bash", command="alembic upgrade head")),
    Cue(0.32, "auth-refactor", "PermissionRequest", _tool("Bash", command="alembic upgrade head")),
    Cue(0.45, "docs-sweep", "Stop", {"stop_hook_active": False, "background_tasks": []}),
    Cue(0.50, "i18n", "PreToolUse", _tool("Bash", command="npm test")),
    Cue(0.65, VICTIM, KILL),
    Cue(0.85, "bench-sqlite", "PreToolUse", _tool("Bash", command="make report")),
)
