"""Codex's adapter on recorded payloads and rollouts: recognised, read, translated, and never raising."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.agents.codex import open_conversations, transcript
from headcount.agents.codex.adapter import CODEX, is_helper, recognise
from headcount.agents.codex.hooks import HOOKS, inactive
from headcount.agents.codex.reports import EVENTS
from headcount.agents.installing.file_change import FileChange, Installed
from headcount.agents.interface import Hosted, Unread
from headcount.core.values.process import OpenFile, ProcessFacts, ProcessIdentity
from headcount.core.values.report import Opening, Report, Turn, WaitingOn

SAMPLES = Path(__file__).parents[2] / "rig" / "samples" / "codex"
ROLLOUTS = sorted((SAMPLES / "rollouts").iterdir())
A = "01a1e22b-5ead-7421-bca6-1cce74188e07"
B = "01a1e22b-b56d-7463-b57a-4f677c9d4a5a"
VENDOR = "/opt/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"


def facts(*argv: str, exe: str | None = VENDOR, comm: str = "codex") -> ProcessFacts:
    return ProcessFacts(ProcessIdentity("boot", 1, 77, 5, 9), 1, 1000, comm, argv, exe)


def said(event: str) -> Report:
    report = CODEX.translate((SAMPLES / "hooks" / f"{event}.json").read_bytes(), 5.0, "hook")
    assert isinstance(report, Report)
    return report


# --- processes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv", [("exec", "a prompt"), ("e", "x"), ("-m", "gpt", "exec", "x"), ("exec", "resume", A), ("review",)]
)
def test_a_run_is_a_session_by_its_process(argv: tuple[str, ...]) -> None:
    assert recognise(facts(VENDOR, *argv)) and not is_helper(facts(VENDOR, *argv))


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("resume", A),
        ("exec-server",),
        ("app-server", "--listen", "unix://"),
        ("-m", "exec"),
        ("mcp", "list"),
    ],
)
def test_a_terminal_and_a_server_are_helpers_until_their_files_say_more(argv: tuple[str, ...]) -> None:
    assert is_helper(facts(VENDOR, *argv)) and not recognise(facts(VENDOR, *argv))


@pytest.mark.parametrize(
    "other",
    [
        facts("node", "/opt/node_modules/.bin/codex", "exec", "x", exe="/usr/bin/node", comm="node"),
        facts("codex-linux-sandbox", "--policy", "x"),  # the same file under another name
        facts("codex", "exec", exe="/usr/bin/python3.11"),
        facts("vim", "codex", exe="/usr/bin/vim"),
        facts("codex", "exec", exe=None),
        facts(exe=VENDOR),
    ],
)
def test_launchers_tools_and_other_programs_are_not_sessions(other: ProcessFacts) -> None:
    assert not recognise(other) and not is_helper(other)


def test_an_executable_replaced_by_an_update_is_still_recognised() -> None:
    assert recognise(facts(VENDOR, "exec", exe=VENDOR + " (deleted)"))


# --- what a process has open ---------------------------------------------------------------------------------


def test_the_locks_that_a_process_holds_name_its_conversations(tmp_path: Path) -> None:
    locks, kept = tmp_path / "thread-writer-locks", tmp_path / ROLLOUTS[0].name
    shutil.copy(ROLLOUTS[0], kept)
    files = (
        OpenFile(str(locks / f"{A}.lock"), True),
        OpenFile(str(locks / f"{B}.lock"), True),
        OpenFile(str(locks / ".coordination.lock"), True),
        OpenFile(str(kept), False),
    )
    first, second = CODEX.hosted(facts(VENDOR, "app-server"), files)
    assert first == Hosted(A, str(kept), "lock", "/home/dev/project", beside=True)
    assert second == Hosted(B, None, "lock", beside=True)  # before its first prompt there is no rollout


def test_a_lock_held_by_another_process_names_no_conversation() -> None:
    """L7: the file outlives its process, and the next one opens it before it has it."""
    lock = f"/home/dev/.codex/thread-writer-locks/{A}.lock"
    assert open_conversations.hosted((OpenFile(lock, False),)) == ()
    assert [each.conversation for each in open_conversations.hosted((OpenFile(lock, None),))] == [
        A
    ]  # no word on locks


def test_where_no_lock_is_open_the_rollout_names_the_conversation(tmp_path: Path) -> None:
    shutil.copy(ROLLOUTS[1], tmp_path)
    [found] = open_conversations.hosted((OpenFile(str(tmp_path / ROLLOUTS[1].name)),))
    assert (found.conversation, found.by) == (B, "open file")


def test_a_subagents_rollout_is_no_session(tmp_path: Path) -> None:
    meta = {"type": "session_meta", "payload": {"id": A, "cwd": "/x", "thread_source": "subagent"}}
    path = tmp_path / f"rollout-2026-11-16T02-24-15-{A}.jsonl"
    path.write_text(json.dumps(meta, separators=(",", ":")) + "\n")
    assert (
        open_conversations.hosted((OpenFile(str(path)), OpenFile(f"/l/thread-writer-locks/{A}.lock", True)))
        == ()
    )


def test_deleted_unreadable_and_foreign_files_name_no_conversation_and_do_not_raise(tmp_path: Path) -> None:
    gone = f"{tmp_path}/rollout-2026-11-16T02-24-15-{A}.jsonl"
    assert open_conversations.hosted((OpenFile(f"{gone} (deleted)"), OpenFile("/x/y.lock", True))) == ()
    [found] = open_conversations.hosted((OpenFile(gone),))  # the kernel names it; its content cannot be read
    assert (found.conversation, found.cwd) == (A, None)


def test_the_home_is_codexs_own_variable_or_the_usual_place() -> None:
    home = Path("/home/dev")
    assert open_conversations.root({}, home) == home / ".codex"
    assert open_conversations.root({"CODEX_HOME": "/elsewhere"}, home) == Path("/elsewhere")
    assert open_conversations.root({"CODEX_HOME": "relative"}, home) == home / ".codex"


# --- hooks -----------------------------------------------------------------------------------------------------


def test_each_event_becomes_its_report() -> None:
    assert (said("SessionStart").says, said("SessionStart").opening) == (Turn.STARTED, Opening.STARTUP)
    assert said("UserPromptSubmit").says is Turn.PROMPTED
    assert (said("PreToolUse").says, said("PreToolUse").doing) == (Turn.TOOL, "Bash: touch /tmp/zzz")
    asked = said("PermissionRequest")
    assert (asked.says, asked.waiting_on) == (Turn.ASKED, WaitingOn.PERMISSION)
    assert said("PostToolUse").says is Turn.TOOL_DONE
    assert said("Interrupt").says is Turn.SETTLED  # Esc, also at an approval
    assert said("Stop").says is Turn.STOPPED
    assert (said("SessionEnd").says, said("SessionEnd").leaving) == (None, "other")


@pytest.mark.parametrize("path", sorted((SAMPLES / "hooks").iterdir()), ids=lambda path: path.stem)
def test_recorded_payloads_have_nothing_unknown_and_no_prompt_leaves(path: Path) -> None:
    payload = path.read_bytes()
    assert path.stem in EVENTS and set(json.loads(payload)) <= EVENTS.fields
    assert CODEX.unknown_fields(payload) == ()
    report = CODEX.translate(payload, 1.0, "hook")
    assert (
        isinstance(report, Report) and report.beside and report.conversation in (A, B)
    ) or "PostTool" in path.stem
    assert "hello there" not in repr(report) and "SCRIPT" not in repr(report)


@given(
    st.binary(max_size=200)
    | st.dictionaries(st.text(max_size=5), st.integers()).map(json.dumps).map(str.encode)
)
def test_no_payload_raises(payload: bytes) -> None:
    assert isinstance(CODEX.translate(payload, 0.0, "hook"), Report | Unread)
    CODEX.unknown_fields(payload)
    transcript.parse(payload)
    open_conversations.parse_head(payload)


@pytest.mark.parametrize("id", ["", "x", f"{A}\n", f"--{A}", "../x", A.upper()])
def test_only_an_id_of_its_own_form_is_resumed(id: str) -> None:
    assert CODEX.resume(id) is None
    assert CODEX.resume(A) == ("codex", "resume", A)


# --- trust -------------------------------------------------------------------------------------------------------


def test_trust_is_read_from_codexs_own_hashes(tmp_path: Path) -> None:
    """The negative control: a key without the right hash (our line changed since) is not trusted."""
    root, mailbox = tmp_path / ".codex", tmp_path / "mailbox" / "codex"
    mailbox.mkdir(parents=True)
    plan = HOOKS.install(root, mailbox, tmp_path / "state")
    assert isinstance(plan, FileChange) and plan.added == len(EVENTS.installed)
    assert plan.note == "inactive until trusted: run /hooks in Codex"
    text = HOOKS.settings_of(root).read_text()
    from headcount.agents.codex.hooks import _ours

    trusted = "".join(f'[hooks.state."{key}"]\ntrusted_hash = "{hash}"\n' for key, hash in _ours(root, text))
    (root / "config.toml").write_text(trusted)
    assert inactive(root, text) == ""
    standing = HOOKS.standing(root, mailbox)
    assert (standing.state, standing.inactive) == (Installed.INSTALLED, "")
    (root / "config.toml").write_text(trusted.replace("sha256:", "sha256:0", 1))
    assert inactive(root, text).startswith("1 of 12 inactive until trusted")
    (root / "config.toml").write_text("not toml [")
    assert "cannot be read" in inactive(root, text)


def test_our_fingerprint_equals_codexs_own() -> None:
    """Recorded: 0.166.0 trusted this entry, and wrote this hash into its config.toml."""
    from headcount.agents.codex.hooks import fingerprint

    drop = "/tmp/codexlearne_bqmwlr/hooks/$(date +%s.%N).Stop.$PPID.$$"
    command = f"(umask 077; {{ exec cat; }} >>{drop}) 2>/dev/null; exit 0"
    handler = {"type": "command", "command": command, "timeout": 3}
    made = fingerprint("Stop", {"hooks": [handler]}, handler)
    assert made == "sha256:0daabbf53182a88a6c150912ca035ad2b843c8f1790229081946db1048e29c87"
    assert made != fingerprint("Stop", {"hooks": [handler]}, {**handler, "timeout": 5})


def test_uninstalling_restores_the_previous_file(tmp_path: Path) -> None:
    root, mailbox = tmp_path / ".codex", tmp_path / "mailbox" / "codex"
    mailbox.mkdir(parents=True)
    root.mkdir()
    mine = '{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine.sh"}]}]}\n}\n'
    (root / "hooks.json").write_text(mine)
    HOOKS.install(root, mailbox, tmp_path / "state")
    assert len(json.loads((root / "hooks.json").read_text())["hooks"]["Stop"]) == 2
    HOOKS.uninstall(root, tmp_path / "state")
    assert (root / "hooks.json").read_text() == mine


# --- rollouts ------------------------------------------------------------------------------------------------------


def upto(kind: str, nth: int = -1) -> transcript.Tail:
    """The long rollout, cut after the nth line that holds that word."""
    lines = ROLLOUTS[0].read_bytes().splitlines()
    at = [number for number, line in enumerate(lines) if b'"type":"%s"' % kind.encode() in line][nth]
    return transcript.parse(b"\n".join(lines[: at + 1]))


def test_the_end_of_a_rollout_shows_the_turns_state() -> None:
    assert upto("task_started", 0).turn is Turn.PROMPTED
    tool = upto("function_call", 0)
    assert (tool.turn, tool.doing) == (Turn.TOOL, "Bash: touch /tmp/zzz")
    assert upto("task_complete", 0).turn is Turn.STOPPED
    assert upto("turn_aborted", 0).turn is Turn.SETTLED
    failed, limit = upto("task_complete", 1), upto("task_complete", 2)
    assert (failed.turn, failed.failure, failed.doing) == (Turn.FAILED, "error", "internal server error")
    assert (limit.turn, limit.failure) == (Turn.FAILED, "limit")


def test_a_rollout_names_model_and_context(tmp_path: Path) -> None:
    kept = tmp_path / ROLLOUTS[1].name
    shutil.copy(ROLLOUTS[1], kept)
    found = CODEX.glimpse(kept, B)
    assert found is not None and (found.model, found.context_tokens) == ("fake", 1200)
    assert found.turned is not None and (found.turned.turn, found.turned.source) == (
        Turn.STOPPED,
        "transcript",
    )
    assert CODEX.glimpse(kept, A) is None  # another conversation's file


def test_only_the_tail_of_a_two_gigabyte_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / ROLLOUTS[1].name
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
        file.seek(0, 2)
        file.write(b"\n" + ROLLOUTS[1].read_bytes())
    found = CODEX.glimpse(path, B)
    assert found is not None and found.turned is not None


def test_a_half_written_line_a_link_and_a_directory_are_ignored(tmp_path: Path) -> None:
    whole = ROLLOUTS[1].read_bytes().splitlines()
    assert transcript.parse(b"\n".join(whole[:-1]) + b"\n" + whole[-1][:40]).turn is Turn.PROMPTED
    (tmp_path / "d" / ROLLOUTS[1].name).mkdir(parents=True)
    assert CODEX.glimpse(tmp_path / "d" / ROLLOUTS[1].name, B) is None
    (tmp_path / ROLLOUTS[1].name).symlink_to(ROLLOUTS[1])
    assert CODEX.glimpse(tmp_path / ROLLOUTS[1].name, B) is None
