"""Gemini CLI: which processes, what its hooks say, and what only its chat tells."""

import json
from pathlib import Path

import pytest

from headcount.agents.gemini import transcript
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.gemini.hooks import HOOKS
from headcount.agents.gemini.reports import EVENTS
from headcount.agents.installing.file_change import FileChange, Installed
from headcount.agents.interface import Unread
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Opening, Report, Turn, WaitingOn
from tests.rig.core_values import process

SAMPLES = Path(__file__).parents[2] / "rig" / "samples" / "gemini"
SCRIPT = "/usr/lib/node_modules/.bin/gemini"
CONVERSATION = "6dbb0a1d-0000-4000-8000-000000000000"


def facts(*argv: str, exe: str | None = "/usr/bin/node") -> ProcessFacts:
    return ProcessFacts(process(), 1, 0, "node", argv, exe, "/home/dev/project")


CHILD = facts("/usr/bin/node", "--max-old-space-size=12051", SCRIPT, "-p", "a prompt")


# --- who it is ------------------------------------------------------------------------------------------


def test_the_relaunched_child_is_the_session_and_its_parent_is_not():
    launcher = facts("node", SCRIPT, "-p", "a prompt")
    assert GEMINI.recognise(CHILD) and not GEMINI.is_launcher(CHILD)
    assert GEMINI.is_launcher(launcher) and not GEMINI.recognise(launcher)
    assert not GEMINI.is_helper(CHILD) and not GEMINI.is_helper(launcher)


@pytest.mark.parametrize(
    "script",
    ["/opt/homebrew/bin/gemini", "/x/@google/gemini-cli/bundle/gemini.js", "/x/gemini-cli/dist/index.js"],
)
def test_its_script_is_known_however_it_was_installed(script):
    assert GEMINI.recognise(facts("/usr/bin/node", script))


@pytest.mark.parametrize(
    "other",
    [
        facts("/usr/bin/node", "/srv/app/server.js", SCRIPT),  # its name as an argument of another script
        facts("/usr/bin/node", "/home/dev/gemini/index.js"),  # a project that is called so
        facts("/usr/bin/node", "/home/dev/gemini"),
        facts("/usr/bin/python3", SCRIPT, exe="/usr/bin/python3"),
        facts("/usr/bin/node"),
        facts("/usr/bin/node", "--max-old-space-size=1"),
        facts("/usr/bin/node", SCRIPT, exe=None),
        facts(),
    ],
)
def test_a_program_with_the_same_name_is_not_recognised(other):
    assert not GEMINI.recognise(other) and not GEMINI.is_launcher(other) and not GEMINI.is_helper(other)


@pytest.mark.parametrize("word", ["mcp", "extensions", "hooks", "--list-sessions", "--version"])
def test_management_subcommands_are_helpers(word):
    errand = facts("/usr/bin/node", SCRIPT, word)
    assert GEMINI.is_helper(errand) and not GEMINI.recognise(errand)


def test_only_ids_of_its_own_form_reach_a_command_line():
    assert GEMINI.resume(CONVERSATION) == ("gemini", "--resume", CONVERSATION)
    for bad in ("", "latest", "-x", "5", f"{CONVERSATION}\n", CONVERSATION.upper()):
        assert GEMINI.resume(bad) is None


# --- what its hooks say -----------------------------------------------------------------------------------


def said(event: str, at: float = 2e9, **more: object) -> Report:
    payload = {"session_id": CONVERSATION, "cwd": "/home/dev/project", "hook_event_name": event, **more}
    report = GEMINI.translate(json.dumps(payload).encode(), at, "hook")
    assert isinstance(report, Report)
    return report


@pytest.mark.parametrize("sample", sorted((SAMPLES / "hooks").glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_payload_is_read(sample):
    report = GEMINI.translate(sample.read_bytes(), 2e9, "hook")
    assert isinstance(report, Report) and len(report.conversation) == 36
    assert report.details.cwd == "/home/dev/project" and not report.beside
    assert GEMINI.unknown_fields(sample.read_bytes()) == ()
    assert report.event in EVENTS and (report.says is None or EVENTS[report.event].is_installed)


def test_a_turn_from_start_to_end():
    assert said("SessionStart", source="clear").opening is Opening.CLEAR
    assert said("BeforeAgent", prompt="secret words").says is Turn.PROMPTED
    tool = said("BeforeTool", tool_name="run_shell_command", tool_input={"command": "npm test"})
    assert (tool.says, tool.doing) == (Turn.TOOL, "Shell: npm test")
    edit = said("BeforeTool", tool_name="replace", tool_input={"file_path": "/home/dev/project/a.py"})
    assert (edit.doing, edit.would_edit, edit.edits) == ("Edit: a.py", "/home/dev/project/a.py", None)
    assert said("AfterTool").says is Turn.TOOL_DONE
    assert said("AfterAgent").says is Turn.STOPPED
    assert said("SessionEnd", reason="exit").leaving == "exit"


def test_an_edit_was_made_when_its_tool_ended_without_an_error():
    given = {"tool_name": "replace", "tool_input": {"file_path": "/home/dev/project/a.py"}}
    made = said("AfterTool", **given, tool_response={"llmContent": "secret words"})
    assert (made.edits, made.would_edit) == ("/home/dev/project/a.py", None)
    failed = said("AfterTool", **given, tool_response={"error": {"type": "edit_no_occurrence_found"}})
    assert (failed.says, failed.edits) == (Turn.TOOL_DONE, None)


def test_a_dialog_is_a_wait_and_the_event_before_each_request_is_no_compaction():
    asked = said(
        "Notification", notification_type="ToolPermission", details={"type": "exec", "command": "touch a"}
    )
    assert (asked.says, asked.waiting_on, asked.doing) == (Turn.ASKED, WaitingOn.PERMISSION, "Shell: touch a")
    plan = said("BeforeTool", tool_name="exit_plan_mode")
    assert (plan.says, plan.waiting_on) == (Turn.ASKED, WaitingOn.PLAN)
    assert said("Notification", notification_type="SomethingNew").says is None
    assert said("PreCompress", trigger="auto").says is None  # S2 the other way round


def test_the_payloads_own_time_is_used():
    assert said("AfterAgent", timestamp="2026-11-16T02:21:34.155Z").at == pytest.approx(1794795694.155)
    assert said("AfterAgent", at=100.0, timestamp="2026-11-16T02:21:34.155Z").at == 100.0
    for bad in (None, 7, "yesterday", "2026-11-16T02:21:34"):
        assert said("AfterAgent", timestamp=bad).at == 2e9


def test_a_half_of_a_surrogate_pair_does_not_lose_the_report():
    payload = b'{"session_id": "%s", "hook_event_name": "BeforeTool", "tool_name": "glob", "tool_input": {"pattern": "\\ud83d"}}'
    report = GEMINI.translate(payload % CONVERSATION.encode(), 1.0, "hook")
    assert isinstance(report, Report) and report.says is Turn.TOOL


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff",
        b"{}",
        b'{"session_id": "-x"}',
        b'{"session_id": []}',
        b"[" * 100_000,
    ],
)
def test_a_payload_without_a_conversation_is_unread(payload):
    assert isinstance(GEMINI.translate(payload, 1.0, "hook"), Unread)
    GEMINI.unknown_fields(payload)


def test_an_unknown_event_is_a_sign_of_life_and_is_counted():
    assert said("AfterLunch", menu=1).says is None
    payload = {"session_id": CONVERSATION, "hook_event_name": "AfterLunch", "menu": 1}
    assert GEMINI.unknown_fields(json.dumps(payload).encode()) == ("event:AfterLunch", "menu")


# --- what only its chat tells -------------------------------------------------------------------------------

CHAT = next((SAMPLES / "chats").glob("*.jsonl"))


def lines() -> list[bytes]:
    return CHAT.read_bytes().splitlines(keepends=True)


def upto(sign: bytes, nth: int = 1) -> transcript.Tail:
    """The chat as it was when the nth line with that sign had just been written."""
    found = 0
    for count, line in enumerate(lines(), 1):
        found += sign in line and line.startswith(b'{"id"')
        if found == nth:
            return transcript.parse(b"".join(lines()[:count]))
    raise AssertionError(f"no such line: {sign!r}")


@pytest.mark.parametrize(
    ("sign", "nth", "turn", "failure"),
    [
        (b"SCRIPT:", 1, Turn.PROMPTED, None),
        (b'"success"', 1, Turn.TOOL_DONE, None),
        (b'"content": "done one"', 1, Turn.STOPPED, None),
        (b"Request cancelled.", 1, Turn.SETTLED, None),  # Esc at a dialog: no hook fires (L5)
        (b"Request cancelled.", 2, Turn.SETTLED, None),  # Esc while it streams
        (b"[API Error", 1, Turn.FAILED, "error"),  # the hook only says that the turn is over
    ],
)
def test_the_recorded_chat_shows_the_turns_state(sign, nth, turn, failure):
    turned = upto(sign, nth).turned
    assert turned is not None and (turned.turn, turned.failure) == (turn, failure)


def test_answers_that_are_written_again_after_an_esc_are_not_new():
    cancelled = next(nth for nth, line in enumerate(lines(), 1) if b"Request cancelled." in line)
    again = next(
        nth for nth, line in enumerate(lines(), 1) if nth > cancelled and b'"type": "gemini"' in line
    )
    turned = transcript.parse(b"".join(lines()[:again])).turned
    assert turned is not None and turned.turn is Turn.SETTLED


def test_the_chat_names_model_and_context():
    tail = transcript.parse(CHAT.read_bytes())
    assert tail.model is not None and tail.model.startswith("gemini-") and tail.context_tokens == 1234


def test_only_its_own_chat_is_read_and_only_its_end(tmp_path):
    path = tmp_path / CHAT.name
    path.write_bytes(b'{"id": "x"}\n' * 1_000_000 + CHAT.read_bytes())
    seen = GEMINI.glimpse(path, CONVERSATION)
    assert seen is not None and seen.turned is not None and seen.turned.turn is Turn.FAILED
    assert GEMINI.glimpse(path, "11111111-0000-4000-8000-000000000000") is None
    link = tmp_path / "elsewhere" / CHAT.name
    link.parent.mkdir()
    link.symlink_to(path)
    assert GEMINI.glimpse(link, CONVERSATION) is None
    assert GEMINI.glimpse(tmp_path / "session-missing-6dbb0a1d.jsonl", CONVERSATION) is None


@pytest.mark.parametrize("cut", range(0, 400, 37))
def test_half_written_lines_are_skipped(cut):
    content = CHAT.read_bytes()
    transcript.parse(content[: len(content) - cut])
    transcript.parse(content[cut:])
    transcript.parse(b'{"id": 1, "type": 7, "content": 3}\n{"id"\n{"id": "\xff"}\n')


# --- its settings -------------------------------------------------------------------------------------------


def test_time_limits_are_in_milliseconds_and_settings_are_restored_byte_for_byte(tmp_path):
    (root,) = HOOKS.roots({}, tmp_path)
    mailbox, state = tmp_path / "mailbox", tmp_path / "state"
    root.mkdir()
    mailbox.mkdir()
    before = b'{\n  "ui": {"theme": "Default"}  \n}\n'
    (root / "settings.json").write_bytes(before)
    assert isinstance(HOOKS.install(root, mailbox, state), FileChange)
    hooks = json.loads((root / "settings.json").read_text())["hooks"]
    assert set(hooks) == {row.name for row in EVENTS.values() if row.is_installed}
    assert {group["hooks"][0]["timeout"] for groups in hooks.values() for group in groups} == {5000}
    assert HOOKS.standing(root, mailbox).state is Installed.INSTALLED
    assert isinstance(HOOKS.uninstall(root, state), FileChange)
    assert (root / "settings.json").read_bytes() == before


def test_its_own_home_variable_is_used(tmp_path):
    assert HOOKS.roots({"GEMINI_CLI_HOME": "/srv/g"}, tmp_path) == [Path("/srv/g/.gemini")]
