"""The keys of the terminal UI, its help screen, and running a headcount command for a key.

Rules
  1. A key runs the real command as a child with our environment: same rights, same checks, same words.
  2. The command's answer is one cleaned line. The command never reads the keyboard.

Not here: what an action does, and second presses (tui/app.py), what a command does (cli/commands).
"""

import subprocess
import sys
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from headcount.clean_text import clean
from headcount.present.session_words import GROUPS, MARKS
from headcount.times import TUI_VERB_WITHIN

KEYS: list[BindingType] = [
    Binding("j,down", "move(1)", show=False),
    Binding("k,up", "move(-1)", show=False),
    Binding("pagedown,ctrl+f", "page(1)", show=False),
    Binding("pageup,ctrl+b", "page(-1)", show=False),
    Binding("J", "scroll_detail(1)", show=False),
    Binding("K", "scroll_detail(-1)", show=False),
    Binding("g,home", "move(-1000000)", show=False),
    Binding("G,end", "move(1000000)", show=False),
    Binding("n", "next", show=False),
    Binding("enter", "jump", show=False),
    Binding("slash", "find", show=False),
    Binding("s", "stop", show=False),
    Binding("1", "tab('agents')", show=False),
    Binding("2", "tab('claims')", show=False),
    Binding("3", "tab('leftovers')", show=False),
    Binding("tab", "next_tab", show=False, priority=True),
    Binding("d", "detail", show=False),
    Binding("escape", "leave", show=False),
    Binding("question_mark", "help", show=False),
    Binding("q,ctrl+c", "quit", show=False),
]


KEY_HELP = (
    ("j k  Up Down", "move; g G Home End, PgUp PgDn"),
    ("n", "the next agent that needs you"),
    ("Enter", "go to its terminal"),
    ("/", "find: name, agent, repository, state; Esc: all again"),
    ("s s", "stop it: the second press within three seconds"),
    ("1 2 3  Tab", "agents, claims, leftovers"),
    ("J K  d", "scroll what lies behind the row; hide or show it"),
    ("?  q", "this help; quit"),
)


def help_text() -> str:
    lines = [f"{keys:<14}{what}" for keys, what in KEY_HELP]
    marks = [f"{MARKS[group]} {group}" for group in GROUPS]
    return "\n".join(
        [
            *lines,
            "",
            "   ".join(marks[:4]),
            "   ".join(marks[4:]),
            "",
            "While you move, the rows keep their places.",
        ]
    )


class Help(ModalScreen[None]):
    CSS = """
    Help { align: center middle; }
    Help Static { width: auto; max-width: 100%; height: auto; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss", "close", show=False)
    ]

    def compose(self) -> ComposeResult:
        yield Static(Text(help_text()), markup=False)


def run_verb(verb: str, session: str) -> str:
    """Blocks: for a thread. What the verb said, or why it said nothing."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "headcount", verb, "--", session],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TUI_VERB_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{verb} takes long; see: headcount log"
    said = [line for line in (done.stderr + "\n" + done.stdout).splitlines() if line.strip()]
    return clean("  ".join(said[:2])) or f"{verb}: done"
