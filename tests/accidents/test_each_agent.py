"""Accidents of one agent's files that every agent's files can have, on what OpenCode and Gemini CLI really keep."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.agents.gemini import transcript
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.opencode.adapter import OPENCODE
from headcount.core.values.activity import Doing
from headcount.core.values.evidence import Glimpse
from tests.accidents.test_opencode_and_gemini import SESSION, Make, doing, gemini, mailbox_of, opencode
from tests.agents.kit.test_last_lines import CHAT, GEMINI_ID, gemini_sample
from tests.agents.kit.test_last_lines import opencode as recorded_database
from tests.rig.core_values import Scene
from tests.rig.daemon.real_daemon import Daemon, eventually

LATER = 2e9


def test_L5_an_abort_of_opencode_that_was_not_told_does_not_leave_it_working(tmp_path: Path) -> None:
    aborted = json.dumps(
        {
            "role": "assistant",
            "time": {"created": 20_000, "completed": 21_000},
            "error": {"name": "MessageAbortedError"},
        }
    )
    path, id = recorded_database(tmp_path, f"UPDATE message SET data = '{aborted}'")
    scene = Scene()
    scene.hear(replace(opencode("chat.message", 10.0), conversation=id), now=LATER)
    assert doing(scene) == "working"  # the naive way knows reports only, and stays here for ever
    seen = OPENCODE.glimpse(path, id)
    assert seen is not None
    scene.hear(seen, now=LATER)
    assert doing(scene) == "idle"


def test_L7_a_chat_that_outlived_its_gemini_is_nobody(daemon: Daemon, tmp_path: Path) -> None:
    """The control: the file says that a turn is under way."""
    home = daemon.user_home / ".gemini" / "tmp" / "project" / "chats"
    home.mkdir(parents=True)
    lines = CHAT.read_bytes().splitlines(keepends=True)
    working = next(nth for nth, line in enumerate(lines, 1) if b'"toolCalls"' in line) - 1
    path = home / CHAT.name
    path.write_bytes(b"".join(lines[:working]))
    seen = GEMINI.glimpse(path, GEMINI_ID)
    assert seen is not None and seen.turned is not None and seen.turned.turn.name in ("PROMPTED", "TOOL")
    daemon.restart()
    assert daemon.sessions(conversation=GEMINI_ID) == []


def test_D3_an_opencode_whose_database_is_gone_lives_while_its_process_does(
    daemon: Daemon, agent: Make, tmp_path: Path
) -> None:
    made, mailbox = agent(name="opencode"), mailbox_of(daemon, "opencode")
    path, _ = recorded_database(tmp_path)
    report = {"event": "chat.message", "session": SESSION, "database": str(path)}
    made.drop(mailbox, json.dumps(report))
    row = eventually(lambda: daemon.sessions(pid=made.pid, conversation=SESSION, activity="working"))[0]
    path.unlink()
    daemon.restart()
    assert daemon.session(id=row["id"])["liveness"] == "alive"


@pytest.mark.parametrize("kind", ["opencode", "gemini"])
def test_D5_a_file_that_cannot_be_read_says_nothing_and_is_not_an_empty_conversation(
    kind: str, tmp_path: Path
) -> None:
    path, id = recorded_database(tmp_path) if kind == "opencode" else gemini_sample(tmp_path)
    adapter = OPENCODE if kind == "opencode" else GEMINI
    assert adapter.glimpse(path, id) is not None
    path.unlink()
    path.mkdir()  # also for one who may read everything
    assert adapter.glimpse(path, id) is None and adapter.peek(path, id, 5) is None
    scene = Scene()
    scene.hear(opencode("chat.message", 10.0) if kind == "opencode" else gemini("BeforeAgent"), now=LATER)
    assert scene.only().is_open and doing(scene) == "working"


def test_S3_a_permission_of_gemini_is_a_wait_and_its_chat_which_shows_the_tool_does_not_hide_it() -> None:
    scene = Scene()
    asked = gemini("Notification.ToolPermission")
    scene.hear(asked, now=LATER)
    assert doing(scene) == "waiting"
    lines = CHAT.read_bytes().splitlines(keepends=True)
    for upto in range(1, len(lines)):
        turned = transcript.parse(b"".join(lines[:upto])).turned
        if turned is not None and turned.at <= asked.at:
            scene.hear(Glimpse("gemini", asked.conversation, turned=turned), now=LATER)
    assert scene.only().activity.doing is Doing.WAITING


def test_S4_a_permission_of_opencode_and_of_gemini_is_seen_by_the_request_itself() -> None:
    """Neither sends anything later that would be needed: the first word of it is the wait."""
    scene = Scene()
    scene.hear(opencode("permission.asked", 10.0, tool="bash", args={"command": "touch a"}), now=LATER)
    assert (doing(scene), scene.only().activity.label) == ("waiting", "bash: touch a")
    other = Scene()
    other.hear(gemini("Notification.ToolPermission"), now=LATER)
    assert doing(other) == "waiting"


def test_S6_records_that_nobody_knows_in_a_chat_and_in_a_database_are_harmless(tmp_path: Path) -> None:
    path, id = gemini_sample(tmp_path)
    before = GEMINI.glimpse(path, id)
    strange = b'{"id": "z", "type": "hologram", "timestamp": "2027-01-01T00:00:00Z", "content": {"x": [1]}}\n'
    path.write_bytes(path.read_bytes() + strange + b'{"$teleport": {}}\n[]\n')
    assert GEMINI.glimpse(path, id) == before
    (tmp_path / "db").mkdir()
    part = "INSERT INTO part SELECT 'prt_z', message_id, session_id, 1, 1, '{\"type\": \"smell\"}' FROM part LIMIT 1"
    database, id = recorded_database(tmp_path / "db", "ALTER TABLE session ADD COLUMN mood text", part)
    said = OPENCODE.peek(database, id, 10)
    assert said is not None and len(said) == 3 and OPENCODE.glimpse(database, id) is not None
