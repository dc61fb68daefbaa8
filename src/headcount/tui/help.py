"""The help: every key, and what the marks mean.

Not here: what a key does (app.py).
"""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from headcount.present.session_words import GROUPS, MARKS

KEYS = (
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
    lines = [f"{keys:<14}{what}" for keys, what in KEYS]
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
