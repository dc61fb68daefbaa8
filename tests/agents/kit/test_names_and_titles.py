"""What is taken as a name or title, by agent: only what somebody gave, never what was made from a conversation.

Each source is written as the real CLI writes it (Claude Code 2.1.325 and 2.1.197, Codex 0.166.0, OpenCode 1.18.33).
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.claude_code.registry import parse as record_of
from headcount.agents.claude_code.reports import translate
from headcount.agents.claude_code.transcript import parse as tail_of
from headcount.agents.codex.reports import translate as codex
from headcount.agents.codex.transcript import parse as rollout_of
from headcount.agents.opencode.database import glimpse
from headcount.agents.opencode.reports import translate as opencode
from headcount.core.values.report import Report

PROMPT = "fix the login of customer 4711"
SESSION = "8c4aca7a-6bb6-48f9-a140-2869dceaaa39"
SLUG = "afix-the-login-547a8bc07c0221d4"


def named(name: str, source: str | None) -> str | None:
    told = {"pid": 7, "sessionId": SESSION, "name": name} | ({"nameSource": source} if source else {})
    entry = record_of(json.dumps(told).encode(), 7)
    assert entry is not None
    return entry.name


def hook(event: str, **fields: Any) -> Report:
    payload = {"session_id": SESSION, "hook_event_name": event, "cwd": "/srv", **fields}
    made = translate(json.dumps(payload).encode(), 1.0, "hook")
    assert isinstance(made, Report)
    return made


@pytest.mark.parametrize("source", ["user", "peer", "derived"])
def test_a_name_that_was_given_is_taken_from_the_registry(source: str) -> None:
    assert named("auth-refactor", source) == "auth-refactor"


@pytest.mark.parametrize("source", ["auto", "hook", "collision", "brand-new", None])
def test_a_name_of_any_other_source_is_not_taken(source: str | None) -> None:
    """`auto`: `--bg PROMPT` and `/fork PROMPT`. None: 2.1.197, where `--bg PROMPT` writes the prompt."""
    assert named(PROMPT, source) is None


@pytest.mark.parametrize(
    "name",
    [
        f"{PROMPT} (Branch)",
        f"{PROMPT} (Branch 2)",
        f"{PROMPT} (Branch)-2",
        f"\u2442 {PROMPT}",
        f"auth \u2442 {PROMPT}",
    ],
)
def test_a_name_that_branch_or_fork_made_from_a_prompt_is_not_taken_from_any_source(name: str) -> None:
    """2.1.325 calls the name of a branch the user's."""
    assert named(name, "user") is None
    assert hook("SessionStart", source="startup", session_title=name).details.name is None
    assert hook("UserPromptSubmit", prompt="x", session_title=name).details.name is None
    assert tail_of(line(type="custom-title", customTitle=name)).title is None


def test_a_custom_title_is_a_name() -> None:
    assert hook("SessionStart", source="startup", session_title="auth").details.name == "auth"
    assert tail_of(line(type="custom-title", customTitle="auth")).title == "auth"


@pytest.mark.parametrize(
    "told",
    [
        {"type": "ai-title", "aiTitle": PROMPT},
        {"type": "agent-name", "agentName": PROMPT},
        {"type": "summary", "summary": PROMPT},
        {"type": "last-prompt", "lastPrompt": PROMPT},
    ],
)
def test_a_title_made_by_a_model_is_not_used(told: dict[str, Any]) -> None:
    given = line(type="custom-title", customTitle="auth")
    assert tail_of(line(**told)).title is None
    assert tail_of(given + line(**told)).title == "auth"


def test_a_subagent_is_listed_by_its_kind_and_number_not_by_its_prompt() -> None:
    """2.1.197 describes the subagent of `/fork PROMPT` by the prompt, and begins its id with it."""
    tasks = [
        {"id": SLUG, "type": "subagent", "status": "running", "description": PROMPT, "agent_type": "fork"},
        {"id": "b1", "type": "shell", "status": "running", "description": "start the server"},
    ]
    stop = hook("Stop", background_tasks=tasks)
    assert stop.background is not None
    shown = [(each.id, each.label) for each in stop.background]
    assert shown == [("547a8bc07c0221d4", "fork"), ("b1", "start the server")]
    began = hook("SubagentStart", agent_id=SLUG, agent_type="fork").background_started
    assert began is not None and began.id == "547a8bc07c0221d4"
    assert hook("SubagentStop", agent_id=SLUG).background_ended == "547a8bc07c0221d4"
    assert hook("PreToolUse", agent_id=SLUG, tool_name="Bash").subagent == "547a8bc07c0221d4"


def test_a_failure_is_shown_by_code_and_time_not_by_its_sentence() -> None:
    assert hook("StopFailure", error="server_error").doing == "server error"
    assert hook("StopFailure", error=f"cannot {PROMPT}").doing is None
    said = f"This resets {PROMPT} and resets the cache"
    assert hook("StopFailure", error="rate_limit", last_assistant_message=said).doing is None
    said = "You've hit your limit \u00b7 resets Nov 20, 3pm (Europe/Berlin)"
    limit = hook("StopFailure", error="rate_limit", last_assistant_message=said)
    assert limit.doing == "resets Nov 20, 3pm (Europe/Berlin)"


def test_codex_names_no_conversation() -> None:
    tail = rollout_of(line(type="event_msg", payload={"type": "thread_name_updated", "thread_name": PROMPT}))
    assert tail.title is None
    failed = {"type": "task_complete", "error": {"codex_error_info": f"cannot {PROMPT}"}}
    assert rollout_of(line(type="event_msg", payload=failed)).doing == "error"
    made = codex(
        json.dumps(
            {"session_id": SESSION, "hook_event_name": "SessionStart", "session_title": PROMPT}
        ).encode(),
        1.0,
        "hook",
    )
    assert isinstance(made, Report) and made.details.name is None


def test_opencode_names_no_conversation(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE session (id, title)")
        database.execute("CREATE TABLE message (session_id, time_created, id, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', ?)", (PROMPT,))
    database.close()
    seen = glimpse(path, "ses_1")
    assert seen is not None and seen.title is None
    told = {"event": "session.error", "session": "ses_1", "error": f"cannot {PROMPT}", "title": PROMPT}
    made = opencode(json.dumps(told).encode(), 1.0, "hook")
    assert isinstance(made, Report) and (made.doing, made.details.name) == (None, None)


def line(**fields: Any) -> bytes:
    return json.dumps({"timestamp": "2026-11-15T10:00:00.000Z", **fields}).encode() + b"\n"
