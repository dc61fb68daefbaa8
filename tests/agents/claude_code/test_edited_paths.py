"""Which file an editing tool is given: the one path that collisions and the guard look at."""

import json
from typing import Any

import pytest

from headcount.agents.claude_code.reports import translate
from headcount.core.values.report import Report


def edits(
    event: str = "PreToolUse", tool: object = "Edit", given: object = None, cwd: object = "/p"
) -> str | None:
    body: dict[str, Any] = {"session_id": "a-1", "hook_event_name": event, "cwd": cwd, "tool_name": tool}
    made = translate(json.dumps(body | {"tool_input": given}).encode(), 5.0, "hook")
    assert isinstance(made, Report)
    assert made.edits is None or made.would_edit is None
    return made.edits if event == "PostToolUse" else made.would_edit


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit"])
def test_an_edit_names_its_file_before_and_after(event: str, tool: str) -> None:
    assert edits(event, tool, {"file_path": "/p/a.py", "content": "secret"}) == "/p/a.py"


def test_a_requested_edit_is_not_counted_as_made() -> None:
    body = {"session_id": "a-1", "cwd": "/p", "tool_name": "Edit", "tool_input": {"file_path": "/p/a.py"}}
    asked = translate(json.dumps(body | {"hook_event_name": "PreToolUse"}).encode(), 5.0, "hook")
    made = translate(json.dumps(body | {"hook_event_name": "PostToolUse"}).encode(), 5.0, "hook")
    assert isinstance(asked, Report) and isinstance(made, Report)
    assert (asked.edits, asked.would_edit) == (None, "/p/a.py")
    assert (made.edits, made.would_edit) == ("/p/a.py", None)


def test_a_notebook_is_a_file_and_a_relative_path_is_made_absolute() -> None:
    assert edits(tool="NotebookEdit", given={"notebook_path": "/p/a.ipynb"}) == "/p/a.ipynb"
    assert edits(given={"file_path": "a.py"}) == "/p/a.py"
    assert edits(given={"file_path": "a.py"}, cwd=None) is None


@pytest.mark.parametrize("event", ["PermissionRequest", "PostToolUseFailure", "Stop"])
def test_a_failed_tool_and_other_events_edit_nothing(event: str) -> None:
    assert edits(event, given={"file_path": "/p/a.py"}) is None


@pytest.mark.parametrize("tool", ["Read", "Bash", "Glob", "mcp__x__Edit", None, 3, ""])
def test_other_tools_report_no_edited_file(tool: object) -> None:
    assert edits(tool=tool, given={"file_path": "/p/a.py"}) is None


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        "x",
        {},
        {"file_path": 3},
        {"file_path": ""},
        {"file_path": "/a\x00b"},
        {"file_path": "/" + "a" * 5000},
    ],
)
def test_a_malformed_tool_input_edits_nothing(given: object) -> None:
    assert edits(given=given) is None
