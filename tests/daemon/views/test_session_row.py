"""Rows worth reading: repository and branch, version, cost, the command that resumes, and where each fact is from."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def row_with(daemon: Daemon, agent: Agent, **wanted: Any) -> dict[str, Any]:
    return eventually(lambda: daemon.sessions(conversation=agent.conversation, **wanted))[0]


def test_repository_branch_and_worktree_are_shown_and_follow(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    api = repository(tmp_path / "src" / "api")
    claude = agent(cwd=api)
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    row = row_with(daemon, claude, repo="api", branch="main")
    assert row["worktree"] is None

    git(api, "checkout", "-q", "-b", "auth-12")
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    claude.hook(daemon.mailbox, "Stop")  # a branch is switched in turns: read again at the end of one
    row_with(daemon, claude, repo="api", branch="auth-12")

    git(api, "worktree", "add", "-q", "-b", "i18n", str(tmp_path / "src" / "api-i18n"))
    claude.cwd = tmp_path / "src" / "api-i18n"
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    row = row_with(daemon, claude, branch="i18n")
    assert (row["repo"], row["worktree"]) == ("api", str(tmp_path / "src" / "api-i18n"))

    claude.cwd = tmp_path / "src"
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    row = row_with(daemon, claude, repo=None)
    assert (row["branch"], row["worktree"], row["cwd"]) == (None, None, str(tmp_path / "src"))


def test_a_restart_reads_the_branch_again(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent(cwd=repository(tmp_path / "api"))
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    row_with(daemon, claude, branch="main")
    daemon.kill()
    git(claude.cwd, "checkout", "-q", "-b", "while-away")
    daemon.ready()
    row_with(daemon, claude, branch="while-away")


def test_a_row_says_how_to_resume_and_since_when_it_is_so(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    row = row_with(daemon, claude)
    assert row["resume"] == f"claude --resume {claude.conversation}"
    assert row["state_since"] == row["since"]
    claude.kill()
    row = row_with(daemon, claude, liveness="ended")
    assert row["state_since"] == row["ended"]["at"]


def test_an_id_that_is_none_of_the_agents_form_makes_no_command(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    claude = agent()
    claude.conversation = "not-a-uuid"
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    assert row_with(daemon, claude)["resume"] is None


def transcript(claude: Agent, tmp_path: Path, *records: dict[str, Any]) -> Path:
    path = tmp_path / f"{claude.conversation}.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


ANSWERED = {
    "type": "assistant",
    "timestamp": "2026-11-15T10:00:00.000Z",
    "version": "2.1.325",
    "message": {"model": "claude-opus-5-5", "stop_reason": "end_turn", "usage": {"input_tokens": 1234}},
}
LEFT = {
    "type": "cost-state",
    "totalCostUSD": 0.38,
    "modelUsage": {"claude-opus-5-5": {"inputTokens": 93776, "outputTokens": 140}},
}


def test_model_context_version_and_cost_are_the_transcripts_and_cost_comes_with_the_end(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent()
    path = transcript(claude, tmp_path, ANSWERED)
    claude.hook(daemon.mailbox, "Stop", transcript_path=str(path))
    row = row_with(daemon, claude, model="claude-opus-5-5")
    assert (row["context_tokens"], row["version"]) == (1234, "2.1.325")
    assert (row["tokens"], row["cost_usd"], row["context_window"]) == (None, None, None)  # nobody says
    with path.open("a") as file:
        file.write(json.dumps(LEFT) + "\n")
    claude.kill()
    row = row_with(daemon, claude, cost_usd=0.38)
    assert (row["tokens"], row["liveness"]) == ({"input": 93776, "output": 140}, "ended")


def test_one_session_is_shown_with_the_source_and_time_of_each_fact(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent(cwd=repository(tmp_path / "api"))
    path = transcript(claude, tmp_path, ANSWERED)
    claude.hook(daemon.mailbox, "Stop", transcript_path=str(path), permission_mode="plan")
    id = row_with(daemon, claude, model="claude-opus-5-5", branch="main")["id"]
    shown = daemon.get(f"/v1/sessions/{id}")
    sources = {name: told["source"] for name, told in shown["sources"].items()}
    expected = {
        "pid": "stat line", "liveness": "kernel", "activity": "hook", "cwd": "hook", "permission_mode": "hook",
        "transcript": "hook", "model": "transcript", "context_tokens": "transcript", "version": "transcript",
        "repo": "git", "branch": "git",
    }  # fmt: skip
    assert sources | expected == sources
    assert all(told["at"] for told in shown["sources"].values())
    assert shown["transcript"] == str(path)
    unsaid = {name for name in sources if name != "transcript" and shown[name] is None}
    assert unsaid == set()  # what nobody said has no source
    listed = daemon.sessions(id=id)[0]
    assert "sources" not in listed  # the list does not pay for it
    assert {name: shown[name] for name in listed} == listed
