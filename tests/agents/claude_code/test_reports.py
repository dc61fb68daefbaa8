"""From hook payloads to reports: every event, every trap."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.agents.claude_code.reports import EVENTS, translate, unknown_fields
from headcount.agents.interface import Unread
from headcount.agents.kit.hook_events import Use
from headcount.core.values.report import Background, Opening, Report, Turn, WaitingOn

SAMPLES = sorted((Path(__file__).parents[2] / "rig" / "samples" / "claude-code").glob("[A-Z]*.json"))


def report(event: str, **fields: Any) -> Report:
    body = {"session_id": "a-1", "hook_event_name": event, "cwd": "/p", **fields}
    made = translate(json.dumps(body).encode(), 5.0, "hook")
    assert isinstance(made, Report)
    return made


def test_an_event_that_an_older_cli_does_not_know_is_not_installed() -> None:
    """2.1.197 meets an unknown event with a dialog at every start."""
    newer = {name for name, row in EVENTS.items() if row.since is not None}
    assert newer == {"PreModelSwitch", "PostModelSwitch", "DirectoryAdded"}
    assert not newer & {row.name for row in EVENTS.installed}


def test_every_installed_event_has_a_translator_and_no_other_has() -> None:
    assert {row.name for row in EVENTS.installed} == {row.name for row in EVENTS.values() if row.says}


def test_events_that_replace_the_agents_work_are_never_installed() -> None:
    assert EVENTS["WorktreeCreate"].use is Use.NEVER
    assert not {"WorktreeCreate", "WorktreeRemove"} & {row.name for row in EVENTS.installed}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_a_captured_payload_is_read_and_holds_nothing_unknown(path: Path) -> None:
    payload = path.read_bytes()
    made = translate(payload, 7.0, "hook")
    assert isinstance(made, Report)
    assert (made.at, made.source, made.agent) == (7.0, "hook", "claude-code")
    assert made.event == path.stem.split(".")[0]
    assert made.details.cwd is not None and made.details.transcript is not None
    assert unknown_fields(payload) == ()


SAYS_WHAT: list[tuple[str, dict[str, Any], Turn | None, WaitingOn | None]] = [
    ("SessionStart", {"source": "startup"}, Turn.STARTED, None),
    ("SessionStart", {"source": "compact"}, Turn.COMPACTED, None),
    ("UserPromptSubmit", {"prompt": "x"}, Turn.PROMPTED, None),
    ("PreToolUse", {"tool_name": "Bash"}, Turn.TOOL, None),
    ("PreToolUse", {"tool_name": "AskUserQuestion"}, Turn.ASKED, WaitingOn.QUESTION),
    ("PermissionRequest", {"tool_name": "Write"}, Turn.ASKED, WaitingOn.PERMISSION),
    ("PermissionRequest", {"tool_name": "AskUserQuestion"}, Turn.ASKED, WaitingOn.QUESTION),
    ("PermissionRequest", {"tool_name": "ExitPlanMode"}, Turn.ASKED, WaitingOn.PLAN),
    ("PermissionDenied", {"tool_name": "Bash"}, Turn.TOOL_DONE, None),
    ("PostToolUse", {"tool_name": "Bash"}, Turn.TOOL_DONE, None),
    ("PostToolUseFailure", {"tool_name": "Bash"}, Turn.TOOL_DONE, None),
    ("PostToolUseFailure", {"tool_name": "Bash", "is_interrupt": True}, Turn.SETTLED, None),
    ("Elicitation", {"mcp_server_name": "s"}, Turn.ASKED, WaitingOn.QUESTION),
    ("ElicitationResult", {}, Turn.TOOL_DONE, None),
    ("Notification", {"notification_type": "permission_prompt"}, None, None),
    ("Notification", {"notification_type": "idle_prompt"}, None, None),
    ("PreCompact", {"trigger": "auto"}, Turn.COMPACTING, None),
    ("PostCompact", {"trigger": "auto"}, Turn.COMPACTED, None),
    ("PostCompact", {"trigger": "manual"}, Turn.SETTLED, None),
    ("Stop", {}, Turn.STOPPED, None),
    ("StopFailure", {"error": "server_error"}, Turn.FAILED, None),
    ("SessionEnd", {"reason": "clear"}, None, None),
    ("PostModelSwitch", {"to_model": "m"}, None, None),
    ("MessageDisplay", {}, None, None),
    ("BrandNewEvent", {}, None, None),
]


@pytest.mark.parametrize(("event", "fields", "turn", "waiting_on"), SAYS_WHAT)
def test_each_event_reports_the_state_of_the_turn(
    event: str, fields: dict[str, Any], turn: Turn | None, waiting_on: WaitingOn | None
) -> None:
    made = report(event, **fields)
    assert (made.event, made.says, made.waiting_on) == (event, turn, waiting_on)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork"])
def test_a_start_reports_how_the_conversation_was_opened(source: str) -> None:
    assert report("SessionStart", source=source).opening is Opening(source)


def test_a_compaction_opens_no_conversation() -> None:
    assert report("SessionStart", source="compact").opening is None


def test_a_start_of_an_unknown_kind_is_still_a_start() -> None:
    assert report("SessionStart", source="teleport").opening is Opening.STARTUP
    assert report("SessionStart").opening is Opening.STARTUP


def test_a_session_end_reports_its_reason() -> None:
    assert report("SessionEnd", reason="prompt_input_exit").leaving == "prompt_input_exit"
    assert report("SessionEnd").leaving == "other"


LABELS: list[tuple[str, Any, str]] = [
    ("Bash", {"command": "npm test"}, "Bash: npm test"),
    ("Bash", {"command": "a\n\tb\x1b[31mc"}, "Bash: a b [31mc"),
    ("Bash", {"command": "x" * 200}, "Bash: " + "x" * 73 + "…"),
    ("Bash", {"command": 7}, "Bash"),
    ("Bash", None, "Bash"),
    ("Edit", {"file_path": "/p/locales/fr.json"}, "Edit: locales/fr.json"),
    ("Edit", {"file_path": "/project/a.py"}, "Edit: /project/a.py"),
    ("Write", {"file_path": "/etc/hosts", "content": "never shown"}, "Write: /etc/hosts"),
    ("Read", {"file_path": "/" + "d/" * 60 + "end.py"}, "Read: …" + ("/" + "d/" * 60 + "end.py")[-73:]),
    ("Grep", {"pattern": "TODO"}, "Grep: TODO"),
    ("WebFetch", {"url": "https://h/p?key=1"}, "WebFetch: https://h/p"),
    ("Agent", {"description": "look around", "prompt": "never shown"}, "Agent: look around"),
    ("mcp__github__search", {"q": "never shown"}, "github search"),
    ("SomethingNew", {"text": "never shown"}, "SomethingNew"),
    (
        "AskUserQuestion",
        {"questions": [{"header": "Retry policy", "options": [1, 2, 3]}]},
        "Retry policy (3 options)",
    ),
    ("AskUserQuestion", {"questions": [{"header": "A"}, {"header": "B"}]}, "A (2 questions)"),
    ("AskUserQuestion", {"questions": "odd"}, "question"),
    ("ExitPlanMode", {"plan": "never shown"}, "plan to approve"),
]


@pytest.mark.parametrize(("tool", "given", "expected"), LABELS)
def test_a_tool_has_a_short_label(tool: str, given: Any, expected: str) -> None:
    made = report("PreToolUse", tool_name=tool, tool_input=given).doing
    assert made == expected
    assert len(made) <= 80


SECRETS = [
    "API_KEY=hunter2secret make",
    "export TOKEN='hunter2secret and more'; run",
    "curl -H 'Authorization: Bearer hunter2secret' x",
    "curl -u me:hunter2secret http://h",
    "mysql --password hunter2secret",
    "psql --password=hunter2secret",
    "git clone https://me:hunter2secret@host/r",
    'curl -d \'{"password":"hunter2secret"}\' h',
    "login ghp_hunter2secret00",
    "curl --user me:hunter2secret http://h",
    "curl --proxy-user=me:hunter2secret http://h",
    "smbclient //h/s -U me%hunter2secret",
    "mysql -u root -phunter2secret prod",
    "mysqldump --single-transaction -p'hunter2secret' prod",
    "sshpass -p hunter2secret ssh me@host",
    "docker login -u me -p hunter2secret registry.test",
    "redis-cli -h cache.test -a hunter2secret ping",
    "x" * 60 + " PASS=hunter2secret" + "y" * 400,
]


@pytest.mark.parametrize("command", SECRETS)
def test_what_looks_like_a_secret_is_not_in_the_label(command: str) -> None:
    made = report("PermissionRequest", tool_name="Bash", tool_input={"command": command}).doing
    assert made is not None
    assert "hunter2" not in made


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("Grep", "pattern"),
        ("Glob", "pattern"),
        ("WebSearch", "query"),
        ("Agent", "description"),
        ("Skill", "skill"),
    ],
)
def test_a_secret_in_any_tool_input_is_not_in_its_label(tool: str, field: str) -> None:
    made = report("PreToolUse", tool_name=tool, tool_input={field: "look for API_KEY=hunter2secret"}).doing
    assert made == f"{tool}: look for API_KEY=***"


def test_ordinary_words_are_not_redacted() -> None:
    for command in (
        "npm run build -- --watch",
        "mkdir -p src/mysql && ls -a",
        "rsync -a --user=me src/ dst/",
        "git commit -m 'rotate the token now'",
        "ls -la src",
    ):
        assert (
            report("PreToolUse", tool_name="Bash", tool_input={"command": command}).doing
            == f"Bash: {command}"
        )


def test_no_prompt_and_no_output_is_kept() -> None:
    for event in EVENTS:
        made = report(
            event, prompt="PRIVATE", last_assistant_message="PRIVATE", tool_response="PRIVATE", message="PRIVATE",
            compact_summary="PRIVATE", delta="PRIVATE", tool_name="Write", tool_input={"content": "PRIVATE"},
        )  # fmt: skip
        assert "PRIVATE" not in repr(made)


def test_a_limit_is_distinguished_from_an_error() -> None:
    limit = report(
        "StopFailure", error="rate_limit", last_assistant_message="You've hit your limit · resets 6:10pm"
    )
    assert (limit.failure, limit.doing) == ("limit", "resets 6:10pm")
    error = report("StopFailure", error="server_error")
    assert (error.failure, error.doing) == ("error", "server error")
    assert report("StopFailure").failure == "error"


def test_a_dialog_in_a_subagent_waits_on_the_user_and_names_the_subagent() -> None:
    made = report("PermissionRequest", agent_id="ae4c", tool_name="Bash", tool_input={"command": "ls"})
    assert (made.says, made.waiting_on, made.subagent, made.doing) == (
        Turn.ASKED,
        WaitingOn.PERMISSION,
        "ae4c",
        "Bash: ls",
    )


def test_a_subagents_events_are_reported_under_its_name() -> None:
    for event in ("PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"):
        assert report(event, agent_id="ae4c", tool_name="Bash").subagent == "ae4c"


def test_background_work_is_listed_while_it_runs() -> None:
    tasks = [
        {"id": "b1", "type": "shell", "status": "running", "command": "npm run dev"},
        {"id": "b2", "type": "subagent", "status": "completed"},
        {"id": ["odd"], "type": "shell"},
    ]
    assert report("Stop", background_tasks=tasks).background == (Background("b1", "shell", "npm run dev"),)
    assert report("Stop", background_tasks=[]).background == ()
    assert report("Stop", background_tasks="odd").background is None
    assert report("Stop").background is None


def test_a_stopping_subagent_is_not_listed_as_running() -> None:
    tasks = [{"id": "ae4c", "type": "subagent", "status": "running"}, {"id": "b1", "type": "shell"}]
    made = report("SubagentStop", agent_id="ae4c", background_tasks=tasks)
    assert made.background_ended == "ae4c"
    assert made.background == (Background("b1", "shell", ""),)


@pytest.mark.parametrize(
    "payload",
    [b"", b"  ", b"[]", b"null", b'"x"', b"{", b"\xff\xfe", b"{}", b'{"session_id":7}', b'{"session_id":""}']
    + [
        b'{"session_id":"a\\n"}',
        b'{"session_id":"../x"}',
        b'{"session_id":"-rf"}',
        b'{"session_id":"\xef\xbc\x91"}',
    ]
    + [
        b'{"session_id":"' + b"a" * 129 + b'"}',
        b'{"session_id":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ]
    + [b'{"session_id":true}', b'{"session_id":null}', b'{"session_id":"a b"}', b'{"session_id":"\\ud83d"}'],
    ids=lambda p: repr(p[:24]),
)
def test_a_payload_without_a_conversation_is_unread_with_a_reason(payload: bytes) -> None:
    made = translate(payload, 1.0, "hook")
    assert isinstance(made, Unread)
    assert made.why


TRAPS = {
    "half a surrogate pair in a text": b'"last_assistant_message":"cut \\ud83d"',
    "half a surrogate pair in a command": b'"tool_name":"Bash","tool_input":{"command":"echo \\ud83d"}',
    "not a number": b'"x":NaN',
    "a number of ten thousand digits": b'"x":' + b"9" * 10_000,
    "a number beyond 64 bits in a field": b'"cwd":99999999999999999999999',
    "bytes that are no UTF-8": b'"prompt":"\xff\xfe"',
    "a key twice": b'"cwd":"/a","cwd":"/b"',
    "fields of odd types": b'"cwd":[],"tool_name":{},"agent_id":3,"permission_mode":{},"transcript_path":1',
}


@pytest.mark.parametrize("trap", TRAPS)
def test_odd_json_is_still_a_report(trap: str) -> None:
    payload = b'{"session_id":"a-1","hook_event_name":"PreToolUse",' + TRAPS[trap] + b"}"
    made = translate(payload, 1.0, "hook")
    assert isinstance(made, Report)
    assert (made.conversation, made.event) == ("a-1", "PreToolUse")
    repr(made).encode()  # nothing that a store or a socket could not carry


def test_unknown_events_and_fields_are_named_for_counting() -> None:
    payload = json.dumps({"session_id": "a", "hook_event_name": "New", "zeta": 1, "alpha": 2}).encode()
    assert unknown_fields(payload) == ("event:New", "alpha", "zeta")
    assert unknown_fields(b"nonsense") == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELD = st.sampled_from(
    [
        "cwd",
        "agent_id",
        "source",
        "reason",
        "tool_name",
        "tool_input",
        "background_tasks",
        "error",
        "model",
        "session_title",
        "trigger",
    ]
)


@given(event=st.sampled_from([*EVENTS, "Other"]) | JSON, fields=st.dictionaries(FIELD, JSON))
def test_no_field_can_break_the_translation(event: Any, fields: dict[str, Any]) -> None:
    body = {"session_id": "a-1", "hook_event_name": event, **fields}
    made = translate(json.dumps(body).encode(), 1.0, "hook")
    assert isinstance(made, Report)
    repr(made).encode()
    assert made.doing is None or (len(made.doing) <= 80 and "\n" not in made.doing)


@given(st.binary(max_size=200))
def test_no_bytes_can_break_the_translation(payload: bytes) -> None:
    assert isinstance(translate(payload, 1.0, "hook"), Report | Unread)
