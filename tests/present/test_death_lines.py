"""The line under a death: its words, and where it stands in `watch`."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.cli.commands.watch import told
from headcount.present.event_lines import DeathLines, of_a_leftover, text_of
from headcount.present.screen import Screen
from tests.rig.agents.callers import Errand, Request, child
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.daemon.seated_agent import seated

SCREEN = Screen(columns=None, colour=False, unicode=True)
AT = "2026-11-16T14:02:11.000Z"


def row(id: str = "02b7aaaaaaaa", name: str = "i18n", **more: Any) -> dict[str, Any]:
    return {
        "id": id, "name": name, "agent": "claude-code", "liveness": "alive", "activity": "working",
        "started_at": "2026-11-16T11:56:11.000Z", "since": AT, "claims": [], "alarms": [], "background": [], **more,
    }  # fmt: skip


def ended(kind: str = "killed", **more: Any) -> dict[str, Any]:
    over = {
        "at": AT,
        "because": "killed (SIGKILL)",
        "kind": kind,
        "signal": 9,
        "exit_code": None,
        "away": False,
    }
    return {"type": "session.ended", "at": AT, "session": row(liveness="ended", ended=over, **more)}


def examined(**facts: Any) -> dict[str, Any]:
    given = {"freed": ["task:I18N-4"], "left": {"process": 2, "worktree": 1}, "resumable": True, **facts}
    return {"type": "session.examined", "at": AT, "session": ended()["session"], "facts": given}


FREED = {"type": "claim.released", "at": AT, "item": "task:I18N-4", "because": "died",
         "holder": {"session": "02b7aaaaaaaa", "pid": 1, "conversation": None}}  # fmt: skip
FOUND = {"type": "leftover.found", "at": AT, "session": ended()["session"],
         "leftover": {"kind": "process", "pid": 41377, "what": "node vite"}}  # fmt: skip
OTHER = {"type": "session.started", "at": AT, "session": row("c01d00000000", "flaky-ci", cwd="/tmp")}


def lines(*events: dict[str, Any]) -> list[str]:
    deaths = DeathLines()
    return [line for event in events for line in told(event, SCREEN, deaths)]


def test_a_death_is_two_lines_whatever_was_freed_and_found_in_between() -> None:
    first, second = lines(ended(), FREED, FOUND, FOUND, examined())
    assert first.endswith("✗ 02b7 i18n killed (SIGKILL) after 2h06m")
    assert (
        second.strip()
        == "freed task:I18N-4; left 2 processes, 1 dirty worktree. To go on: headcount resume 02b7"
    )
    assert second.index("freed") == first.index("✗")


def test_when_something_else_was_told_meanwhile_the_second_line_says_whose_it_is() -> None:
    told = lines(ended(), OTHER, FREED, examined())
    assert len(told) == 3
    assert told[2].endswith(
        "02b7 i18n: freed task:I18N-4; left 2 processes, 1 dirty worktree. To go on: headcount resume 02b7"
    )


def test_what_is_found_or_freed_later_or_without_a_death_is_told_by_itself() -> None:
    assert len(lines(FREED)) == 1
    assert lines(FOUND)[0].endswith("02b7 i18n left: process 41377 node vite")
    assert len(lines(ended(), examined(), FOUND)) == 3


def test_a_death_that_left_nothing_has_no_second_line() -> None:
    assert len(lines(ended(), examined(freed=[], left={}, resumable=False))) == 1


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"freed": [], "left": {"process": 1}}, "left 1 process. To go on: headcount resume 02b7"),
        ({"freed": ["a:1", "b:2"], "left": {}}, "freed a:1, b:2. To go on: headcount resume 02b7"),
        ({"freed": [], "left": {}}, "To go on: headcount resume 02b7"),
        ({"freed": [], "left": {"pane": 1, "record": 2}, "resumable": False}, "left 1 pane, 2 stale records"),
        ({"freed": ["task:\x1b]52;c;eA==\x07"], "left": {}, "resumable": False}, 'freed "task:?]52;c;eA==?"'),
    ],
)
def test_only_what_there_is_is_said(facts: dict[str, Any], text: str) -> None:
    assert text_of(examined(**facts)) == text


def test_a_leftover_of_nobody_says_so() -> None:
    event = {"type": "leftover.found", "leftover": {"kind": "pane", "pid": None, "what": "work:7 sh"}}
    assert of_a_leftover(event) == "left by nobody that is known: pane work:7 sh"


def test_watch_tells_a_real_death_in_two_lines(
    daemon: Daemon, agent: Callable[..., Agent], repo: Path
) -> None:
    claude = agent(cwd=repo)
    row = seated(daemon, claude)
    wish = Request("POST", "/v1/claims", {"item": "task:I18N-4"})
    child(claude, Errand(repo.parent / "errands", daemon.socket, [wish]))
    (repo / "fr.json").write_text("{}")
    argv = [sys.executable, "-m", "headcount", "watch"]
    with subprocess.Popen(argv, env=daemon.env, stdout=subprocess.PIPE, text=True) as watching:
        try:
            assert watching.stdout is not None
            watching.stdout.readline()  # the summary: it listens
            claude.kill()
            id = row["id"][:4]
            told: list[str] = []
            while not any("headcount resume" in line for line in told):
                line = watching.stdout.readline()
                told += [line] if id in line else []  # others may live and die on this machine
        finally:
            watching.kill()
    assert "killed (SIGKILL)" in told[0]
    assert told[1:] == [line for line in told if line.strip().endswith(f"headcount resume {id}")]
    assert "freed task:I18N-4; left 1 dirty worktree. To go on: " in told[1]
