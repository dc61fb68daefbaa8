"""OpenCode: which processes, what its reports say, its database, and our plugin's file."""

import json
import sqlite3
from pathlib import Path

import pytest

from headcount.agents.installing.file_change import FileChange, Installed
from headcount.agents.installing.settings_file import Refusal
from headcount.agents.interface import Unread
from headcount.agents.opencode.adapter import OPENCODE
from headcount.agents.opencode.hooks import FILE, HOOKS, MARK
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFile, ProcessFacts
from headcount.core.values.report import Report, Turn, WaitingOn
from tests.rig.core_values import process

EXE = "/usr/lib/node_modules/opencode-ai/bin/opencode.exe"
SESSION = "ses_e1ddc55b3ffe9KPc75Pkj6GV3l"


def facts(*argv: str, exe: str | None = EXE, comm: str = "opencode") -> ProcessFacts:
    return ProcessFacts(process(), 1, 0, comm, argv, exe, "/home/dev/project")


# --- who it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [("opencode",), ("opencode", "run", "serve"), ("opencode", "-s", SESSION), ("opencode", "/srv/project")],
)
def test_its_terminal_and_its_runs_are_sessions(argv):
    assert OPENCODE.recognise(facts(*argv)) and not OPENCODE.is_helper(facts(*argv))


@pytest.mark.parametrize("word", ["serve", "web", "acp", "mcp", "upgrade", "session", "attach", "--version"])
def test_servers_and_management_subcommands_are_helpers(word):
    assert not OPENCODE.recognise(facts("opencode", word)) and OPENCODE.is_helper(facts("opencode", word))


@pytest.mark.parametrize(
    "other",
    [
        facts("vim", "opencode", exe="/usr/bin/vim", comm="vim"),
        facts("opencode", exe="/usr/bin/python3", comm="python3"),
        facts("opencode", exe=None),
        facts(),
    ],
)
def test_a_program_with_the_same_name_is_not_recognised(other):
    assert not OPENCODE.recognise(other) and not OPENCODE.is_helper(other)


def test_an_executable_replaced_by_an_update_is_still_recognised():
    assert OPENCODE.recognise(facts("opencode", exe=f"{EXE} (deleted)"))


# --- what it has open -----------------------------------------------------------------------------------

DATABASE = "/home/dev/.local/share/opencode/opencode.db"
FILES = (OpenFile("/dev/pts/1"), OpenFile(DATABASE), OpenFile(f"{DATABASE}-wal"))


@pytest.mark.parametrize(
    "argv", [("-s", SESSION), ("run", "--session", SESSION, "hi"), (f"--session={SESSION}",)]
)
def test_a_conversation_that_it_was_started_with_is_named(argv):
    (hosted,) = OPENCODE.hosted(facts("opencode", *argv), FILES) or ()
    assert (hosted.conversation, hosted.transcript, hosted.beside) == (SESSION, DATABASE, True)


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("-c",),
        ("-s", SESSION, "--fork"),
        ("-s", "../x"),
        ("-s",),
        ("run", "--", "-s", SESSION),
        ("--session=-x",),
    ],
)
def test_the_shared_database_names_no_process(argv):
    assert OPENCODE.hosted(facts("opencode", *argv), FILES) is None


def test_only_ids_of_its_own_form_reach_a_command_line():
    assert OPENCODE.resume(SESSION) == ("opencode", "--session", SESSION)
    for bad in ("", "-x", "ses_", "ses_../x", f"{SESSION}\n", "ses_x;reboot"):
        assert OPENCODE.resume(bad) is None


# --- what it says ---------------------------------------------------------------------------------------


def said(event: str, at: float = 100.0, **more: object) -> Report:
    payload = {"event": event, "session": SESSION, "at": 50.0, "directory": "/home/dev/project", **more}
    report = OPENCODE.translate(json.dumps(payload).encode(), at, "hook")
    assert isinstance(report, Report)
    return report


SAMPLES = sorted((Path(__file__).parents[2] / "rig" / "samples" / "opencode" / "hooks").glob("*.json"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_every_recorded_payload_is_read(sample):
    report = OPENCODE.translate(sample.read_bytes(), 2e9, "hook")
    assert isinstance(report, Report) and report.beside and report.conversation.startswith("ses_")
    assert OPENCODE.unknown_fields(sample.read_bytes()) == ()


def test_the_plugins_own_time_is_used_unless_later_than_the_file():
    assert said("session.idle").at == 50.0
    assert said("session.idle", at=40.0).at == 40.0
    assert said("session.idle", at=40.0).says is Turn.STOPPED


@pytest.mark.parametrize("told", [None, "now", -1, 0, True, [1]])
def test_an_invalid_time_is_replaced_by_the_files(told):
    payload = json.dumps({"event": "session.idle", "session": SESSION, "at": told}).encode()
    report = OPENCODE.translate(payload, 100.0, "hook")
    assert isinstance(report, Report) and report.at == 100.0


def test_the_ways_a_turn_ends_are_distinguished():
    assert said("session.idle", rejected=True).says is Turn.SETTLED
    assert said("session.error", error="MessageAbortedError").says is Turn.SETTLED
    limit = said("session.error", error="APIError", code=429)
    assert (limit.says, limit.failure) == (Turn.FAILED, "limit")


def test_a_dialog_in_a_subagent_waits_on_the_user():
    asked = said("permission.asked", subagent="ses_inner", tool="bash", args={"command": "touch a"})
    assert (asked.says, asked.waiting_on, asked.subagent) == (Turn.ASKED, WaitingOn.PERMISSION, None)
    assert said("permission.replied", subagent="ses_inner").subagent is None


def test_a_subagents_end_never_ends_the_main_turn():
    ended = said("session.idle", subagent="ses_inner")
    assert (ended.subagent, ended.background_ended) == ("ses_inner", "ses_inner")
    late = said("tool.execute.after", subagent="ses_inner")
    assert late.subagent == "ses_inner"  # S1: the core keeps it apart


def test_labels_show_one_field_and_no_secret():
    assert said(
        "tool.execute.before", tool="bash", args={"command": "curl -H 'Authorization: Bearer abcdef123'"}
    ).doing == ("bash: curl -H 'Authorization: ***'")
    edit = said("tool.execute.before", tool="edit", args={"filePath": "/home/dev/project/src/a.py"})
    assert (edit.doing, edit.would_edit) == ("edit: src/a.py", "/home/dev/project/src/a.py")
    made = said("tool.execute.after", tool="edit", args={"filePath": "/home/dev/project/src/a.py"})
    assert (edit.edits, made.edits, made.would_edit) == (None, edit.would_edit, None)
    assert said("tool.execute.before", tool="mystery", args={"command": "x"}).doing == "mystery"


def test_an_unknown_event_is_a_sign_of_life_and_is_counted():
    report = said("session.teleported", engine=1)
    assert report.says is None
    payload = json.dumps({"event": "session.teleported", "session": SESSION, "engine": 1}).encode()
    assert OPENCODE.unknown_fields(payload) == ("event:session.teleported", "engine")


@pytest.mark.parametrize(
    "payload",
    [b"", b"null", b"[]", b"{", b"\xff\xfe", b"{}", b'{"session": "-x"}', b'{"session": 7}', b"[" * 100_000],
)
def test_a_payload_without_a_conversation_is_unread(payload):
    assert isinstance(OPENCODE.translate(payload, 1.0, "hook"), Unread)
    OPENCODE.unknown_fields(payload)


# --- its database -----------------------------------------------------------------------------------------


def database(place: Path, *messages: dict, title: str = "Fix the tests") -> tuple[Path, sqlite3.Connection]:
    path = place / "opencode.db"
    made = sqlite3.connect(path)
    made.execute("PRAGMA journal_mode=WAL")
    made.execute("CREATE TABLE session (id text PRIMARY KEY, title text)")
    made.execute(
        "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text)"
    )
    made.execute("INSERT INTO session VALUES (?, ?)", (SESSION, title))
    for nth, data in enumerate(messages):
        made.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (str(nth), SESSION, nth, json.dumps(data)))
    made.commit()
    return path, made


def answer(**more: object) -> dict:
    tokens = {"input": 1000, "cache": {"read": 200, "write": 34}}
    time = {"created": 5_000, "completed": 6_000}
    return {"role": "assistant", "modelID": "fake", "tokens": tokens, "time": time, "finish": "stop", **more}


@pytest.mark.parametrize(
    ("message", "turn", "failure"),
    [
        (answer(), Turn.STOPPED, None),
        (answer(finish="tool-calls"), Turn.TOOL_DONE, None),
        (answer(time={"created": 5_000}), Turn.PROMPTED, None),
        (answer(error={"name": "MessageAbortedError"}), Turn.SETTLED, None),
        (answer(error={"name": "APIError", "data": {"statusCode": 429}}), Turn.FAILED, "limit"),
        (answer(error={"name": "APIError", "data": {"statusCode": 500}}), Turn.FAILED, "error"),
        ({"role": "user", "time": {"created": 5_000}}, Turn.PROMPTED, None),
    ],
)
def test_the_last_message_shows_the_turns_state(tmp_path, message, turn, failure):
    path, held = database(tmp_path, message)
    seen = OPENCODE.glimpse(path, SESSION)
    assert isinstance(seen, Glimpse) and seen.turned is not None
    assert (seen.title, seen.turned.turn, seen.turned.failure) == (None, turn, failure)
    held.close()


def test_it_reports_model_and_context(tmp_path):
    path, held = database(tmp_path, answer())
    seen = OPENCODE.glimpse(path, SESSION)
    assert seen is not None and (seen.title, seen.model, seen.context_tokens) == (None, "fake", 1234)
    held.close()


def test_reading_a_closed_database_creates_no_file(tmp_path):
    path, held = database(tmp_path, answer())
    held.close()  # the last one to close takes its log away
    before = sorted(tmp_path.iterdir())
    assert OPENCODE.glimpse(path, SESSION) is not None
    assert OPENCODE.peek(path, SESSION, 5) is None  # it has no parts
    assert sorted(tmp_path.iterdir()) == before

    plainly = sqlite3.connect(f"file:{path}?mode=ro", uri=True)  # the control: opened plainly it makes two
    plainly.execute("SELECT 1 FROM session").fetchone()
    assert len(sorted(tmp_path.iterdir())) > len(before)
    plainly.close()


def test_a_locked_damaged_or_foreign_database_gives_no_answer_and_no_error(tmp_path):
    path, held = database(tmp_path, answer())
    held.execute("PRAGMA locking_mode=EXCLUSIVE")
    held.execute("BEGIN EXCLUSIVE")
    assert OPENCODE.glimpse(path, "ses_other") is None
    held.close()
    path.write_bytes(b"not a database at all")
    Path(f"{path}-wal").write_bytes(b"")
    assert OPENCODE.glimpse(path, SESSION) is None
    assert OPENCODE.glimpse(tmp_path / "other.db", SESSION) is None


# --- our plugin's file --------------------------------------------------------------------------------------


def test_the_plugin_is_installed_and_removed(tmp_path):
    root, mailbox, state = tmp_path / "opencode", tmp_path / "mailbox", tmp_path / "state"
    root.mkdir()
    plan = HOOKS.install(root, mailbox, state)
    assert isinstance(plan, FileChange) and plan.note == "active when OpenCode restarts"
    assert HOOKS.standing(root, mailbox).state is Installed.INSTALLED
    assert HOOKS.standing(root, tmp_path / "elsewhere").state is Installed.OUTDATED
    again = HOOKS.install(root, mailbox, state)
    assert isinstance(again, FileChange) and not again.changes
    assert isinstance(HOOKS.uninstall(root, state), FileChange)
    assert list(root.iterdir()) == []
    assert HOOKS.standing(root, mailbox).state is Installed.ABSENT


def test_other_plugins_stay(tmp_path):
    root, state = tmp_path / "opencode", tmp_path / "state"
    other = root / "plugin" / "mine.js"
    other.parent.mkdir(parents=True)
    other.write_text("export const Mine = async () => ({})")
    HOOKS.install(root, tmp_path / "mailbox", state)
    HOOKS.uninstall(root, state)
    assert [path.name for path in other.parent.iterdir()] == ["mine.js"]


def test_a_file_of_that_name_that_is_not_ours_is_refused_untouched(tmp_path):
    root, state = tmp_path / "opencode", tmp_path / "state"
    foreign = root / FILE
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"export const Theirs = 1\n")
    assert isinstance(HOOKS.install(root, tmp_path / "mailbox", state), Refusal)
    removed = HOOKS.uninstall(root, state)
    assert isinstance(removed, FileChange) and not removed.changes
    assert foreign.read_bytes() == b"export const Theirs = 1\n"
    assert HOOKS.standing(root, tmp_path / "mailbox").state is Installed.UNREADABLE
    assert not foreign.read_bytes().startswith(MARK)
