"""The wide table, and `show` with its sources."""

from typing import Any

import pytest

from headcount.cli.commands import show
from headcount.cli.reboot_notice import lines_of as reboot_lines
from headcount.present import table
from headcount.present.screen import Screen
from headcount.present.session_words import repo_of, rows_of, state_of
from headcount.present.table import draw
from tests.present.sample_rows import NOW, SCREEN, at, session

PIPE = Screen(columns=None, colour=False, unicode=True)

FULL: dict[str, Any] = {
    "name": "auth-refactor",
    "model": "claude-opus-5-5",
    "context_tokens": 132_400,
    "context_window": None,
    "tokens": {"input": 1_293_776, "output": 950},
    "cost_usd": 0.379,
    "worktree": "/src/api-auth",
    "repo": "api",
    "branch": "auth-12",
    "permission_mode": "plan",
    "entrypoint": "cli",
    "parent": "0123456789ab",
    "version": "2.1.325",
    "role": "builder",
    "groups": ["api", "night"],
}


def test_the_wide_table_has_a_column_for_each_figure() -> None:
    sessions = [session("7f3a0000", **FULL), session("c01d0000")]
    head, first, second, summary = draw(
        rows_of(sessions, NOW), PIPE, everything=True, more=table.wide_columns(sessions)
    )
    assert head.split()[-11:] == [
        "ROLE", "GROUPS", "MODEL", "CONTEXT", "TOKENS", "COST", "WORKTREE", "MODE", "ENTRY", "PARENT", "VERSION",
    ]  # fmt: skip
    for text in (
        "api@auth-12",
        "builder",
        "api, night",
        "132k",
        "1.3M in, 950 out",
        "$0.38",
        "/src/api-auth",
        "plan",
        "0123",
        "2.1.325",
    ):
        [row] = [line for line in (first, second) if "7f3a" in line]
        assert text in row
    [other] = [line for line in (first, second) if "c01d" in line]
    assert other.split()[-11:] == ["-"] * 11
    assert summary.startswith("2 alive")


def test_a_column_that_nobody_fills_is_left_out_and_the_usual_table_is_as_it_was() -> None:
    plain = draw(rows_of(SCREEN, NOW), PIPE)
    assert draw(rows_of(SCREEN, NOW), PIPE, everything=True, more=table.wide_columns(SCREEN)) == plain


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"context_tokens": 132_400, "context_window": 200_000}, "66%"),
        ({"context_tokens": 132_400, "context_window": None}, "132k"),
        ({"context_tokens": 132_400, "context_window": 0}, "132k"),
        ({"context_tokens": None, "context_window": 200_000}, ""),
        ({}, ""),
    ],
)
def test_a_share_of_the_context_is_told_only_where_its_size_is_known(raw: dict[str, Any], text: str) -> None:
    assert table.context(raw) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (13_999, "13k"), (1_250_000, "1.2M"), ("x", "?")],
)
def test_amounts_are_short(count: object, text: str) -> None:
    assert table.amount(count) == text


def test_the_daemons_word_on_the_repository_is_shown_and_is_clean() -> None:
    assert repo_of({"repo": "api", "branch": "auth-12", "cwd": "/nowhere/x"}) == "api@auth-12"
    assert repo_of({"repo": "api", "branch": None}) == "api"
    assert repo_of({"repo": None, "cwd": "/nowhere/x"}) == "x"
    assert repo_of({"repo": "a\x1b[31m", "branch": "b\x07"}) == "a?[31m@b?"


def test_a_stall_is_a_question_mark_and_no_other_word() -> None:
    assert state_of(session(stalled=True), NOW) == "working?"
    assert state_of(session(stalled=False), NOW) == "working"
    assert state_of(session(stalled=True, liveness="unknown"), NOW) == "working?"
    [row] = rows_of([session(stalled=True)], NOW)
    assert row.group == "working"


def test_show_names_the_source_and_age_of_each_fact() -> None:
    told = {"model": {"source": "transcript", "at": at(252)}, "repo": {"source": "git", "at": at(5)}}
    lines = show.lines_of({**session(**FULL), "sources": told, "resume": "claude --resume x"}, NOW)
    assert lines[0] == "auth-refactor"
    [model] = [line for line in lines if line.startswith("  model ")]
    assert model.split() == ["model", "claude-opus-5-5", "transcript,", "4m12s"]
    [repo] = [line for line in lines if line.startswith("  repository ")]
    assert repo.split() == ["repository", "api@auth-12", "git,", "5s"]
    assert any(line.split() == ["resume", "claude", "--resume", "x"] for line in lines)
    assert any(line.split() == ["cost", "$0.38"] for line in lines)


def test_show_of_an_older_daemons_row_is_drawn_without_sources() -> None:
    lines = show.lines_of(session(), NOW)
    assert lines[0] == "7f3a0000" and not any("git" in line for line in lines)


# --- a reboot -----------------------------------------------------------------------------------------


def test_what_a_reboot_ended_is_told_with_the_way_to_go_on() -> None:
    rows = [
        session("7f3a0000", name="auth", cwd="/src/my api", resume="claude --resume x"),
        session("c01d0000", resume=None),
    ]
    assert reboot_lines(rows) == [
        "2 ended by reboot:",
        "  7f3a auth: cd '/src/my api' && claude --resume x",
        "  c01d claude: its agent knows no way to go on with it",
    ]
    assert reboot_lines([]) == []


def test_a_crowd_is_cut() -> None:
    lines = reboot_lines([session(f"{nth:08x}") for nth in range(50)])
    assert len(lines) == 22 and lines[-1] == "  and 30 more: headcount ps --all"


def test_a_hostile_directory_reaches_no_terminal() -> None:
    [_, line] = reboot_lines([session(cwd="/x\x1b]0;y\x07", resume="claude --resume x")])
    assert "\x1b" not in line and "\x07" not in line
