"""The lines that ask, and their place in somebody's settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.claude_code.hooks import HOOKS, QUESTIONS
from headcount.agents.claude_code.reports import EVENTS
from headcount.agents.installing import hook_line_asks_daemon
from headcount.agents.installing.file_change import FileChange
from headcount.agents.installing.hook_line_asks_daemon import (
    CONTEXT,
    GUARD,
    KINDS,
    Asking,
    kind_of,
    line,
    why_not,
)
from headcount.agents.installing.hook_line_mailbox import Unquotable, is_ours
from headcount.agents.installing.settings_file import Refusal

USERS = '{"model": "opus", "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "mine.sh"}]}]}}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "claude").mkdir()
    return tmp_path / "claude"


def install(root: Path, *add: str, drop: tuple[str, ...] = ()) -> FileChange:
    state = root.parent / "state"
    asking = Asking(state / "headcount.sock", frozenset(add), frozenset(drop))
    plan = HOOKS.install(root, state / "mailbox", state, asking)
    assert isinstance(plan, FileChange), plan
    return plan


def written(root: Path) -> dict[str, Any]:
    found = json.loads((root / "settings.json").read_text())
    assert isinstance(found, dict)
    return found


def asking_in(settings: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [
        (kind, event, group.get("matcher"))
        for event, groups in settings.get("hooks", {}).items()
        for group in groups
        for handler in group["hooks"]
        if (kind := kind_of(handler["command"])) is not None
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_recognised_and_its_trial_prints_nothing(kind: str) -> None:
    assert kind_of(line(Path('/it\'s a "$HOME"/x.sock'), kind, "claude-code")) == kind
    assert why_not(kind, "claude-code") is None
    assert "\n" not in line(Path("/x.sock"), kind, "claude-code")


def test_the_line_has_the_limit_the_socket_and_no_proxy() -> None:
    made = line(Path("/state/headcount.sock"), GUARD, "claude-code")
    assert (
        made.startswith("curl -q -sf -m 0.25 --noproxy '*' ")
        and "--unix-socket /state/headcount.sock" in made
    )
    assert made.endswith("2>/dev/null; exit 0 # headcount guard")


@pytest.mark.parametrize("other", ["curl -q -sf -m 1 http://x/v1/guard/a", "mine.sh", None, 3, ""])
def test_others_lines_are_not_ours(other: object) -> None:
    assert kind_of(other) is None


def test_a_place_that_cannot_be_quoted_is_refused() -> None:
    with pytest.raises(Unquotable):
        line(Path("relative.sock"), GUARD, "claude-code")


def test_a_plain_install_adds_no_question_and_the_same_observing_line(root: Path) -> None:
    install(root)
    assert asking_in(written(root)) == []
    assert all(
        is_ours(group["hooks"][0]["command"])
        for groups in written(root)["hooks"].values()
        for group in groups
    )


def test_guard_and_context_are_added_to_the_observing_lines_for_editing_tools_only(root: Path) -> None:
    install(root, GUARD, CONTEXT)
    settings = written(root)
    assert sorted(asking_in(settings)) == [
        (CONTEXT, "SessionStart", None),
        (GUARD, "PreToolUse", "Edit|Write|MultiEdit|NotebookEdit"),
    ]
    observed = [row.name for row in EVENTS.installed]
    assert sum(
        is_ours(h["command"]) for groups in settings["hooks"].values() for g in groups for h in g["hooks"]
    ) == len(observed)
    assert set(QUESTIONS) == set(KINDS)


def test_installing_is_idempotent_and_a_plain_install_keeps_opted_in_questions(root: Path) -> None:
    install(root, GUARD)
    before = (root / "settings.json").read_bytes()
    assert not install(root, GUARD).changes
    assert not install(root).changes
    assert (root / "settings.json").read_bytes() == before


def test_one_question_can_be_removed_alone(root: Path) -> None:
    install(root, GUARD, CONTEXT)
    assert install(root, drop=(GUARD,)).removed == 1
    assert [kind for kind, _, _ in asking_in(written(root))] == [CONTEXT]
    assert HOOKS.standing(root, root.parent / "state/mailbox").asks == (CONTEXT,)


def test_removing_a_question_installs_nothing(root: Path) -> None:
    (root / "settings.json").write_text(USERS)
    assert not install(root, drop=(GUARD,)).changes
    assert (root / "settings.json").read_text() == USERS


def test_uninstall_removes_the_questions_and_restores_every_byte(root: Path) -> None:
    (root / "settings.json").write_text(USERS)
    install(root, GUARD, CONTEXT)
    assert written(root)["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "mine.sh"
    HOOKS.uninstall(root, root.parent / "state")
    assert (root / "settings.json").read_text() == USERS


def test_uninstall_removes_the_questions_even_if_the_file_was_changed_since(root: Path) -> None:
    (root / "settings.json").write_text(USERS)
    install(root, GUARD, CONTEXT)
    changed = written(root) | {"theme": "dark"}
    (root / "settings.json").write_text(json.dumps(changed))
    HOOKS.uninstall(root, root.parent / "state")
    assert written(root) == json.loads(USERS) | {"theme": "dark"}


def test_a_line_that_does_not_work_here_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_line_asks_daemon, "why_not", lambda kind, agent: "the line printed something")
    state = root.parent / "state"
    asking = Asking(state / "headcount.sock", frozenset({GUARD}))
    refused = HOOKS.install(root, state / "mailbox", state, asking)
    assert isinstance(refused, Refusal) and "printed something" in refused.why
    assert not (root / "settings.json").exists()
