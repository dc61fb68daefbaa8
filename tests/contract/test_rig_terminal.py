"""The rig's terminal: a line is sent when its text is on the screen, however long the CLI takes to draw it."""

import os
import sys
from pathlib import Path

import pytest

from tests.rig.terminal import terminal
from tests.rig.terminal.terminal import Terminal, is_typed

SLOW_CLI = """
import os, select, sys, tty
tty.setraw(0)
print("ready", end="\\r\\n", flush=True)
text = os.read(0, 4096).decode()
print("...", end="\\r\\n", flush=True)
if select.select([0], [], [], float(sys.argv[1]))[0]:
    print("pasted with its Enter", end="\\r\\n", flush=True)
else:
    print("| " + text[:20] + " |", "| " + text[20:] + " |", sep="\\r\\n", end="\\r\\n", flush=True)
    os.read(0, 10)
    print("sent", end="\\r\\n", flush=True)
sys.stdin.read()
"""
LINE = "a line that is too long for its box, and wraps"


def slow_cli(place: Path, draws_after: float) -> Terminal:
    made = Terminal([sys.executable, "-c", SLOW_CLI, str(draws_after)], {"PATH": os.defpath}, place)
    made.wait_screen("ready")
    return made


def test_enter_follows_when_the_text_is_drawn(tmp_path: Path) -> None:
    with slow_cli(tmp_path, draws_after=1.5) as cli:
        cli.type(LINE)
        cli.wait_screen("sent")


def test_a_terminal_that_takes_any_change_for_the_text_sends_enter_with_the_paste(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_typed", lambda text, before, screen: screen != before)
    with slow_cli(tmp_path, draws_after=60) as cli:
        cli.type(LINE)
        cli.wait_screen("pasted with its Enter")


def test_a_text_that_was_there_before_is_typed_when_it_is_there_once_more() -> None:
    assert not is_typed("/clear", "> /clear\n", "> /clear\n...")
    assert is_typed("/clear", "> /clear\n", "> /clear\n> /clear")
    assert is_typed("x" * 5000, "> ", "> [Pasted text #1 +3 lines]")
